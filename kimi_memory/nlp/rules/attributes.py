"""What is said of a thing: the stable name of a noun, in both languages.

A noun that the table of topics or of slots knows has its name there, any other one its
own English words (`attribute_nouns`).
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules.attribute_nouns import about, english, plain_noun
from kimi_memory.nlp.rules.topics import has_topic, named_topic

_SLOTS = {
    "city": ("city", "home", "hometown", "home town", "城市", "家", "住址", "居住地"),
    "employer": ("employer", "company", "员工", "公司", "单位", "雇主", "东家"),
    "diet": ("allergy", "allergies", "diet", "过敏源", "过敏原", "饮食"),
    "drink": ("favourite drink", "favorite drink", "go-to drink", "preferred drink", "drink", "饮料"),
    "job": ("job", "job title", "profession", "occupation", "role", "position", "工作", "职业", "职位", "岗位", "头衔", "职务", "角色"),
    "car": ("car", "车", "汽车", "座驾", "新车"),
    "wake": ("alarm", "alarm clock", "wake-up time", "闹钟", "起床时间"),
    "partner": ("partner", "spouse", "伴侣", "对象", "爱人"),
    "school": ("school", "university", "学校", "大学"),
    "phone": ("phone", "phone number", "number", "cell", "mobile", "电话", "手机", "手机号", "手机号码", "电话号码"),
    "email": ("email", "mail", "e-mail", "email address", "邮箱", "邮件地址"),
    "boss": ("boss", "manager", "line manager", "supervisor", "老板", "领导", "经理", "上级", "上司", "主管", "直属领导"),
    "name": ("name", "名字", "姓名"),
    "address": ("address", "地址", "家庭住址"),
    "wechat": ("wechat", "微信", "微信号"),
    "native-language": ("native language", "mother tongue", "母语"),
    "timezone": ("time zone", "timezone", "时区"),
    "birthday": ("birthday", "生日"),
    "code-name": ("code name", "codename", "代号"),
    "desk": ("desk", "seat", "工位", "座位"),
    "mascot": ("mascot", "吉祥物"),
}  # fmt: skip
PERSONS = frozenset(
    {"editor", "theme", "font-size", "drink", "music", *_SLOTS} - {"code-name", "mascot"}
)
"""Attributes of a person, where no "we" says otherwise."""
_CANON = {word: name for name, words in _SLOTS.items() for word in words}
# "Our problem is latency" and 原因是… have the form of a value that can change and are none.
_EMPTY = regex(
    r"\b(?:question|point|problem|issue|guess|opinion|understanding|mistake|fault|concern|idea|reason|way|thing"
    r"|kind|sort|part|side|end|rest|lot|bit|middle|case|fact|result|cause|look|copy|version of|minds?|opinions?|list|number|use"
    r"|one|ones|time|day|week|month|year|moment|goal|purpose|job|work|help|words?|turn|suggestion|thoughts?|feeling"
    r"|impression|fix|bug|error|message|answer|proposal|recommendation|benefit|advantage|performance|quality|teams?|projects?)$"
)
_HAN_EMPTY = regex(
    r"(?:原因|问题|意思|想法|结果|情况|时候|部分|方式|方法|事情|目的|作用|逻辑|思路|建议|理解|疑问|感觉|猜测|观点|看法"
    r"|代码|印象|提议|担心|电脑|东西|地方|内容|区别|关系|样子|基础|过程|好处|坏处|说法|记忆)$|^(?:[事错锅天话人]$|时候|[这那])"
    r"|^(?:周|星期|礼拜)[一二三四五六日天末]"
)


def attribute_of(noun: str) -> tuple[str, bool]:
    """Return the name of an attribute, the same in both languages, and whether it is known."""
    plain = plain_noun(noun)
    name = english(plain)
    names = dict.fromkeys((plain, name, about(plain)))
    known = next((found for one in names if (found := _CANON.get(one) or named_topic(one))), "")
    # The head of a noun is its end: a backup window is a window, not the backup.
    plainly = english(about(plain))
    return (known, True) if known else (slug(plainly, 40), name.isascii() and has_topic(name))


def is_empty(noun: str) -> bool:
    """Whether a noun names nothing that has a value: "problem", 原因."""
    return bool(_EMPTY.search(noun) or _HAN_EMPTY.search(noun))
