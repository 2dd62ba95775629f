"""Whose what a sentence speaks of: "the port of Atlas", "Dana's birthday", 青鸾的端口.

A statement and its later change must meet under one key, however they are put. So the
name of the thing and of what is said of it are looked for in the forms that both
languages have for it; words of a table (`topics`) are the same in both.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from kimi_memory.text import owned_en, owned_zh
from kimi_memory.text.cues import fold_case, split_reason
from kimi_memory.text.han import simplify
from kimi_memory.text.language import language_of
from kimi_memory.text.nouns import about, english, is_lexical, plain_noun
from kimi_memory.text.regex import regex
from kimi_memory.text.selves import self_of
from kimi_memory.text.slug import slug
from kimi_memory.text.topics import KNOWN, has_topic, named_topic, topic_of

ME = "user"
"""Owner of what a person says of themselves."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about."""

    owner: str
    """Slug of a name; ``user`` for the speaker; empty for what is ours."""
    attribute: str
    known: bool
    """Whether the attribute stands in the table of topics."""
    words: str
    """The words that name both, so that what is left is what is said of them."""
    name: str = ""
    noun: str = ""
    """Owner and attribute as the sentence has them."""
    value: str = ""
    """What is said, where the form of the sentence tells it from the rest."""
    start: int = 0
    end: int = 0
    """Where the words that name it stand in the simplified sentence."""

    @property
    def key(self) -> str:
        """The key of a card about it."""
        return f"{self.owner or 'fact'}.{self.attribute}"


_NO_NAME = frozenset(
    [
        "let",
        "it",
        "that",
        "what",
        "he",
        "she",
        "there",
        "here",
        "who",
        "how",
        "i",
        "we",
        "you",
        "they",
        "this",
        "the",
        "our",
        "my",
        "its",
        "for",
        "about",
        "on",
        "in",
        "as",
        "please",
        "update",
        "correction",
        "note",
        "remember",
        "today",
        "yesterday",
        "tomorrow",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "everyone",
        "everybody",
        "somebody",
        "nobody",
        "heads",
        "fyi",
        "by",
        "just",
        "keep",
        "change",
        "where",
        "when",
        "why",
        "which",
        "one",
        "sorry",
        "no",
        "yes",
        "effective",
        "instead",
        "scratch",
        "as",
        "regarding",
        "speaking",
        "back",
        "with",
        "if",
        "after",
        "before",
        "since",
        "until",
        "although",
        "though",
        "while",
        "because",
        "so",
        "and",
        "but",
        "or",
        "then",
        "now",
        "thanks",
        "thank",
        "ok",
        "okay",
        "hi",
        "hello",
        "well",
        "never",
        "don't",
        "do",
        "make",
        "go",
        "is",
        "are",
        "was",
        "were",
        "not",
        "going",
        "starting",
        "otherwise",
        "also",
        "maybe",
        "perhaps",
    ]
)
_VERBS = frozenset(
    [
        "unlearn",
        "clear",
        "forget",
        "drop",
        "delete",
        "erase",
        "remove",
        "scrap",
        "strike",
        "note",
        "remember",
        "set",
        "put",
        "change",
        "move",
        "switch",
        "update",
        "about",
        "regarding",
        "consider",
        "ignore",
        "disregard",
        "discard",
        "keep",
        "since",
        "for",
        "on",
        "in",
        "as",
        "by",
        "the",
        "our",
        "make",
        "never",
        "instead",
        "scratch",
        "add",
        "with",
        "go",
        "run",
        "use",
        "when",
        "if",
        "after",
        "back",
        "so",
        "and",
        "but",
        "that",
    ]
)
_EMPTY = regex(
    r"\b(?:question|point|problem|issue|guess|opinion|understanding|mistake|fault|concern|idea|reason|way|thing"
    r"|kind|sort|part|side|end|rest|lot|bit|middle|case|fact|result|cause|look|copy|version of|minds?|opinions?|list|number|use"
    r"|one|ones|time|day|week|month|year|moment|goal|purpose|job|work|help|words?|turn|suggestion|thoughts?|feeling"
    r"|impression|fix|bug|error|message|answer|proposal|recommendation|benefit|advantage|performance|quality|teams?|projects?)$"
)
_HAN_NO_NAME = regex(
    r"^(?:这|那|哪|什么|怎么|自己|大家|别人|代码|问题|项目|系统|页面|函数|测试|数据|文件|程序|今天|昨天|明天|天气|用户"
    r"|接口|服务|模块|方法|时候|里面|上面|下面|后面|前面|所有|每|一个|两个|新|旧|原来|现在|以前|最后|主要|其他|不同|相同"
    r"|喜欢|最喜欢|重要|需要|可能|具体|真正|整个|我|你|他|她|它)"
)
# A run with one of these is part of a sentence: 云数据库这个月的额度.
_HAN_CLAUSE = regex(
    r"[这那哪每几]|另外|多少|[年月周天日时]$|之[前后]|以[前后]|^(?:讨论|商量|决定|经过|一致|最终|写|习惯|平时|目前|最近)"
    r"|(?:下来|完|好|过|起来|吧|嘛)$|一下"
)
_LONGEST = 8
_LONG_NOUN = 5
"""A run of so many characters may be more than a noun."""
_HAN_EMPTY = regex(
    r"(?:原因|问题|意思|想法|结果|情况|时候|部分|方式|方法|事情|目的|作用|逻辑|思路|建议|理解|疑问|感觉|猜测|观点|看法"
    r"|代码|印象|提议|担心|电脑|东西|地方|内容|区别|关系|样子|基础|过程|好处|坏处|说法|记忆)$|^(?:[事错锅天话人]$|时候|[这那])"
)
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
_IS = regex(r"\b(?:is|are|will be)\b(?! (?:forbidden|not allowed|never|always)\b)|[是为]")
_I = regex(r"\b(?:i|my|me)\b|我(?!们)")
_WE = regex(r"\b(?:we|our|us|let's|everyone|everybody)\b|我们|咱们|大家|统一|团队")
_CANON = {word: name for name, words in _SLOTS.items() for word in words}


@lru_cache(maxsize=4096)
def subject_of(sentence: str) -> Subject | None:
    """Return whose what a sentence speaks of, or None where it names neither."""
    text = simplify(sentence.replace("’", "'"))
    zh = language_of(text) == "zh"
    grammar = owned_zh if zh else owned_en
    mine = _self(text) or _mine(grammar.MY, text)
    # In Chinese 我 stands before what is mine; in English a name may own what follows.
    first, second = (mine, None) if zh else (None, mine)
    return first or _named(text, zh=zh) or second or _ours(grammar, text)


def _self(text: str) -> Subject | None:
    told = self_of(text)
    return told and Subject(ME, told.attribute, True, told.words, value=told.value)


SHARED = ("decision", "fact", "note")
PERSONAL = ("preference", "user", "note")
"""First words of keys under which the same matter may stand."""
_SWAPPED = {"reversal": "decision"}
_PREFIXES = frozenset({*SHARED, *PERSONAL, "rule", "lesson", "pattern", "finding", "task"})


def key_of(prefix: str, sentence: str, project: str = "") -> str:
    """Return the key of what a sentence says.

    Args:
        prefix: the first word of the key where nobody is named, such as ``decision``;
            with ``reversal`` it is ``decision``, or ``preference`` for a person's own habits.
        sentence: one statement.
        project: the project it was said in, which needs no naming.
    """
    subject = subject_of(split_reason(sentence)[0])
    if subject is None:
        return f"{_SWAPPED.get(prefix, prefix)}.{topic_of(sentence)}"
    if subject.owner == ME:
        habit = prefix == "preference" and subject.attribute in KNOWN
        return f"{prefix}.{subject.attribute}" if habit else subject.key
    if subject.owner and subject.owner != slug(project, 40):
        return subject.key
    if prefix == "preference" and subject.attribute not in PERSONS and _WE.search(sentence):
        prefix = "decision"  # What a team always uses is its choice.
    if prefix == "rule" and _IS.search(fold_case(sentence)):
        prefix = "decision"  # "From now on the port is 9090" names a value, and forbids nothing.
    if prefix in ("fact", "reversal") and subject.attribute in PERSONS:
        low = fold_case(sentence)
        if _I.search(low) and not _WE.search(low):
            return f"preference.{subject.attribute}"
    return f"{_SWAPPED.get(prefix, prefix)}.{subject.attribute}"


def is_named(key: str) -> bool:
    """Whether a key begins with the name of a thing or a person, of any project."""
    return key.partition(".")[0] not in _PREFIXES


def kin(key: str) -> frozenset[str]:
    """Return the keys under which the same matter may stand, this one included."""
    first, _, rest = key.partition(".")
    near = [names for names in (SHARED, PERSONAL) if first in names]
    return frozenset({key, *(f"{name}.{rest}" for names in near for name in names if rest)})


def attribute_of(noun: str) -> tuple[str, bool]:
    """Return the name of an attribute, the same in both languages, and whether it is known."""
    plain = plain_noun(noun)
    name = english(plain)
    names = dict.fromkeys((plain, name, about(plain)))
    known = next((found for one in names if (found := _CANON.get(one) or named_topic(one))), "")
    # The head of a noun is its end: a backup window is a window, not the backup.
    plainly = english(about(plain))
    return (known, True) if known else (slug(plainly, 40), name.isascii() and has_topic(name))


def _named(text: str, *, zh: bool) -> Subject | None:
    grammar = owned_zh if zh else owned_en
    for form in grammar.FORMS:
        for found in _overlapping(form, text, zh=zh):
            name = owned_zh.bare_name(found["e"]) if zh else _en_name(found["e"])
            noun = found["a"] or found.groupdict().get("b") or ""
            attribute, known = attribute_of(noun)
            unsaid = not known and (
                (form in grammar.LOOSE and not is_lexical(noun))
                or _is_empty(noun)
                or (zh and not _is_stated(text, found.start("e"), found.end("a")))
            )
            if _is_name(name, zh=zh) and not unsaid:
                start, end = _span(found, text)
                return Subject(
                    slug(name, 40), attribute, known, f"{name} {noun}", name, noun, "", start, end
                )
    return None


def _overlapping(form: re.Pattern[str], text: str, *, zh: bool) -> Iterator[re.Match[str]]:
    """Yield matches, each looked for behind the name of the one before."""
    found = form.search(text)
    while found:
        yield found
        found = form.search(text, found.end("e") if zh else found.start("e") + 1)


# Between a name and a noun that stand together.
_GAP = regex(
    r"^(?:'s?)?(?: (?:project|team|service|server|system|app)(?:'s)?)?[,:]?(?: (?:(?:I|we) have|of|for|on|at|in|the|our|its|their|his|her|new|current|old|official|actual|real|right|I|we|that|which|gave|give|told|you|mentioned|project|team))* ?$"
    r"|^ ?(?:项目组?|团队|[这那][边里儿]|系统|服务|目前|现在|用|选|定)*的?(?:新的?|现在的|老|旧|这个)?[，,]?(?:它的|他的|她的|其)?$"
)


def _span(found: re.Match[str], text: str) -> tuple[int, int]:
    """Return where a name and its noun stand; of two that stand apart, where the noun does."""
    name = found.span("e")
    noun = found.span("a" if found["a"] else "b")
    first, second = sorted((name, noun))
    together = _GAP.match(text[first[1] : second[0]])
    return (first[0], second[1]) if together else noun


def _is_stated(text: str, start: int, end: int) -> bool:
    """Whether something is said of a Chinese subject, after it or before it."""
    if owned_zh.STATES.match(text, end):
        return True
    return not text[end:].strip("。.!！~ ") and owned_zh.BEFORE.search(text[:start]) is not None


def _is_empty(noun: str) -> bool:
    return bool(_EMPTY.search(noun) or _HAN_EMPTY.search(noun))


def _mine(pattern: re.Pattern[str], text: str) -> Subject | None:
    found = pattern.search(text)
    if found is None:
        return None
    attribute, known = attribute_of(found["a"])
    if not known and _is_empty(found["a"]):
        return None
    return Subject(
        ME, attribute, known, found[0], noun=found["a"], start=found.start(), end=found.end("a")
    )


def _ours(grammar: ModuleType, text: str) -> Subject | None:
    for form in (grammar.OUR, grammar.OURS):
        at = 0
        while found := form.search(text, at):
            at = found.start() + 1
            noun = next(word for word in found.groups() if word)
            group = found.lastgroup or "a"
            if grammar is owned_zh and form is grammar.OUR and noun.isascii():
                continue  # Between Chinese words MySQL names a value.
            attribute, known = attribute_of(noun)
            zh = grammar is owned_zh
            stated = not zh or _is_stated(text, found.start(group), found.end(group))
            short = noun.isascii() or len(noun) < _LONG_NOUN
            sure = known or is_lexical(noun)
            said = sure if form is grammar.OUR else not _is_empty(noun) and stated
            if said and (stated or (known and short)):
                start, end = found.span(group)
                return Subject("", attribute, known, noun, noun=noun, start=start, end=end)
    return None


def _en_name(run: str) -> str:
    """Return a name without the verb that a sentence may begin with."""
    first, _, rest = run.partition(" ")
    return rest if rest and fold_case(first) in _VERBS else run


def _is_name(name: str, *, zh: bool) -> bool:
    if zh and not name.isascii():
        return 2 <= len(name) <= _LONGEST and not (
            _HAN_NO_NAME.search(name) or _HAN_CLAUSE.search(name) or is_lexical(name)
        )
    return len(name) >= 2 and fold_case(name).split()[0].split("'")[0] not in _NO_NAME
