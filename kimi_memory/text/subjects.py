"""Whose what a sentence speaks of: "the port of Atlas", "Dana's birthday", 青鸾的端口.

A statement and its later change must meet under one key, however they are put. So the
name of the thing and of what is said of it are looked for in the forms that both
languages have for it; words of a table (`topics`) are the same in both.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kimi_memory.text.cues import fold_case, split_reason
from kimi_memory.text.han import simplify
from kimi_memory.text.language import language_of
from kimi_memory.text.regex import regex
from kimi_memory.text.slug import slug
from kimi_memory.text.topics import KNOWN, known_topic, topic_of

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

    @property
    def key(self) -> str:
        """The key of a card about it."""
        return f"{self.owner or 'fact'}.{self.attribute}"


_NAME = r"[A-Z][\w&+]*(?:-[\w]+)*(?: (?!I\b)[A-Z][\w&+-]*){0,2}"
_NO_NOUN = (
    r"is|are|was|were|be|been|will|would|has|have|had|to|from|now|just|isn't|aren't|wasn't|no|not|and|or|so"
    r"|that|which|who|i|we|you|they|it|he|she|at|on|for|of|in|as|by|with|any|became|becomes|went|got|changed"
    r"|moved|should|must|can|please|instead|rather|used|uses|doesn't|don't|didn't|stands|stays|any|anymore|said"
    r"|told|gave|because|since|but|if|when|then|than|there|here|also|still|never|always|the|a|an|its|our|my|this"
    r"|turned|runs|needs|wants|looks|seems|works|failed|fails|actually|really|too|very|out|up|down|over|again|\w+ed|chose|chosen|set|took|met|put|knows?"
)
_NOUN = rf"(?:(?!(?:{_NO_NOUN})\b)[A-Za-z][\w-]*)(?: (?!(?:{_NO_NOUN})\b)[a-z][\w-]*){{0,2}}"
_ADJECTIVE = r"(?:new |current |old |present |official |actual |real )?"
_THE = r"(?:[Tt]he|[Oo]ur|[Ii]ts|[Tt]heir|[Tt]hat|as)"
_EN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:{_THE} {_ADJECTIVE}(?P<a>{_NOUN})(?: (?:I|we) (?:gave you|told you|have))? (?:on|of|for)"
        rf"|[Aa]n? {_ADJECTIVE}(?P<b>{_NOUN}) (?:of|for)) (?:the |our |project )?(?P<e>{_NAME})(?!')",
        rf"(?P<e>{_NAME})'s? {_ADJECTIVE}(?P<a>{_NOUN})",
        rf"\b(?:[Ff]or|[Aa]bout|[Oo]n|[Rr]egarding|[Aa]s for|[Ii]n) (?:the )?(?P<e>{_NAME})[,:]? "
        rf"(?:the|its|our|their) {_ADJECTIVE}(?P<a>{_NOUN})",
        rf"\b(?:[Tt]he|[Oo]ur) {_ADJECTIVE}(?P<e>{_NAME}) (?:project's |team's )?(?P<a>{_NOUN})",
        rf"(?P<e>{_NAME})(?: team| project)? (?:now )?(?:has|have|got|gets|had|uses|takes|comes|doesn't|knows|is|goes)\b"
        rf".{{0,60}}?\b(?:its|as the|as a|the|a new|their|that|another) {_ADJECTIVE}(?P<a>{_NOUN})",
        rf"^(?P<e>{_NAME}) ?[-–—:,] (?:the|its) {_ADJECTIVE}(?P<a>{_NOUN})",
        rf"\b(?:gave|give|[Ee]veryone on|all of) (?P<e>{_NAME}) .{{0,30}}?\b(?:another|its|a new) {_ADJECTIVE}(?P<a>{_NOUN})",
    )
)
_AFTER = (
    r"(?= (?:now|on|falls|would be|is|are|will|isn't|became|becomes|used to|went|has|have|I |we |from|to|no |any|stays|was|turned|moved"
    r"|changed)\b|'s| ?[:.,]|$)"
)
_MY = re.compile(rf"\b(?:[Mm]y) {_ADJECTIVE}(?P<a>{_NOUN}){_AFTER}")
_OUR = re.compile(
    rf"\b(?:[Tt]he|[Oo]ur) {_ADJECTIVE}(?P<a>{_NOUN}){_AFTER}"
    rf"|\b(?:[Ff]or|[Aa]s) (?:the|our|its) {_ADJECTIVE}(?P<b>{_NOUN})"
)
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
    ]
)
_EMPTY = regex(
    r"\b(?:question|point|problem|issue|guess|opinion|understanding|mistake|fault|concern|idea|reason|way|thing"
    r"|kind|sort|part|side|end|rest|lot|bit|middle|case|fact|result|cause|look|copy|version of|minds?|opinions?|list|number|use"
    r"|one|ones|time|day|week|month|year|moment|goal|purpose|job|work|help|words?|turn|suggestion|thoughts?|feeling"
    r"|impression|fix|bug|error|message|answer|proposal|recommendation|benefit|advantage|performance|quality|teams?|projects?)$"
)
# Without 的 是 把 我 你 他 她 它 说 了: they stand around names, not in them.
_HAN = r"(?![的是把我你他她它说了])[\u3400-\u9fff]"
_HAN_NAME = rf"(?:[A-Za-z][A-Za-z0-9_-]*(?: [A-Z][A-Za-z0-9_-]*)?|(?:{_HAN}){{2,10}})"
_SIDE = r"(?:项目组?|团队|那边|这边|那里|这里|系统|服务|目前|现在|定)?"
_HAN_END = (
    r"(?=的|是|为|定|改|换|用|从|由|现|不|已|调|变|更|设|确|敲|以后|以前|作|选|刚|就|我|原|得|这|吧|其|别|失|过|取|应|最|了|统一[是为用]|暂|如|重|挪|你|删|无|算|切|掉"
    r"|也|还|都|没|忘|当|采|走|转|迁|替|升|再|到|在|要|方面|说|呢|吗|[，,。：:；;！!？?、（( ]|$)"
)
_HAN_NOUN = rf"(?:最(?:喜欢|爱|常用)的)?(?:{_HAN}|[A-Za-z]){{2,6}}?{_HAN_END}"
_ZH = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<e>{_HAN_NAME}) ?(?:这边|那边|这里|那里)的?(?P<a>{_HAN_NOUN})",
        rf"(?P<e>{_HAN_NAME}) ?{_SIDE}的(?:新的?|现在的)?(?P<a>{_HAN_NOUN})",
        rf"(?:关于|说到|至于|对于)(?P<e>{_HAN_NAME})[，,]?(?:它的|其)?(?P<a>{_HAN_NOUN})",
        rf"(?P<e>{_HAN_NAME}) ?(?:换了|有了|定了)新的?(?P<a>{_HAN_NOUN})",
        rf"(?P<e>{_HAN_NAME}) ?把(?P<a>{_HAN_NOUN})",
        rf"^(?P<e>{_HAN_NAME})[，,：:](?P<a>{_HAN_NOUN})",
        rf"(?P<e>{_HAN_NAME})(?:已经?)?没有这个(?P<a>{_HAN_NOUN})",
    )
)
_LOOSE = frozenset({*_EN[-2:], *_ZH[-2:]})
"""Forms in which only a known attribute makes a subject."""
_HAN_OUR = re.compile(
    rf"(?:^|[，,：:；;]|把|我们的?|咱们的?|以后|现在的?|说的|新的|还是|决定|喜欢的)(?P<a>{_HAN_NOUN})"
    rf"|(?:做|当|作为|当作|用[A-Za-z][A-Za-z0-9 +#.-]{{0,20}}?|我)(?P<b>{_HAN_NOUN})"
)
_HAN_MY = re.compile(rf"我(?:家)?(?:所在|常用|用|工作|喜欢|住)?的(?P<a>{_HAN_NOUN})(?!的)")
# What may stand right before a name in one run of characters.
_HAN_LEAD = re.compile(
    r"^.*(?:的|是|把|我们?|你们?|他们?|她|它|记着|记得|记住?|记下|忘掉|忘记|忘了|忘|关于|说到|至于|对于|大家|同意|一下|确认"
    r"|收回|撤回|删除|删掉|知道|决定|消息|备忘|更正|今天|起|之前|以前|现在|目前|说|请|别再?|不用|不要|再|着|了|和|跟|给|让"
    r"|在|就|都|也|被|对|到|用|从|由|将|有|选|当|做|为|就是)(?=[\u3400-\u9fff]{2})"
)
_HAN_NO_NAME = regex(
    r"^(?:这|那|哪|什么|怎么|自己|大家|别人|代码|问题|项目|系统|页面|函数|测试|数据|文件|程序|今天|昨天|明天|天气|用户"
    r"|接口|服务|模块|方法|时候|里面|上面|下面|后面|前面|所有|每|一个|两个|新|旧|原来|现在|以前|最后|主要|其他|不同|相同"
    r"|喜欢|最喜欢|重要|需要|可能|具体|真正|整个|我|你|他|她|它)"
)
# A run with one of these is part of a sentence: 云数据库这个月的额度.
_HAN_CLAUSE = regex(r"[这那哪每几]|另外|多少|[年月周天日时]$|之[前后]|以[前后]")
_LONGEST = 8
_LONG_NOUN = 5
"""A run of so many characters may be more than a noun."""
# What follows an attribute that no table knows, where a value is given to it or taken away.
_HAN_STATES = regex(
    r"[，, ]?(?:我们?|咱们?|大家|他们?|她们?)?(?:现在?|已经?|就|又|都|也|还|以后|暂|刚|得|应该?|统一|最后|从[^，。]{1,12})?(?:不?再?是|为|叫|定|改|换|设|调|变|更新?"
    r"|用|选|迁|升|转|搬|挪|推迟|提前|延|取消|作废|删|忘|没有|没了|不用|不算|不对|在|要|[：:=])|$"
)
_HAN_EMPTY = regex(
    r"(?:原因|问题|意思|想法|结果|情况|时候|部分|方式|方法|事情|目的|作用|逻辑|思路|建议|理解|疑问|感觉|猜测|观点|看法"
    r"|代码|印象|提议|担心|电脑|东西|地方|内容|区别|关系|样子|基础|过程|好处|坏处|说法|记忆)$|^(?:[事错锅天话人]$|时候|[这那])"
)
_SLOTS = {
    "city": ("city", "home", "hometown", "home town", "城市", "家", "住址", "居住地"),
    "employer": ("employer", "company", "员工", "公司", "单位", "雇主", "东家"),
    "diet": ("allergy", "allergies", "diet", "过敏源", "过敏原", "饮食"),
    "drink": ("favourite drink", "favorite drink", "go-to drink", "preferred drink", "drink", "饮料"),
    "job": ("job", "profession", "occupation", "工作", "职业"),
    "phone": ("phone", "phone number", "number", "cell", "mobile", "电话", "手机", "手机号", "手机号码", "电话号码"),
    "email": ("email", "mail", "e-mail", "email address", "邮箱", "邮件地址"),
    "boss": ("boss", "manager", "老板", "领导"),
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
_PERSONS = frozenset(
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
    if language_of(text) == "zh":
        return _mine(_HAN_MY, text) or _named(_ZH, text, zh=True) or _ours(_HAN_OUR, text)
    return _named(_EN, text, zh=False) or _mine(_MY, text) or _ours(_OUR, text)


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
    if prefix == "rule" and _IS.search(fold_case(sentence)):
        prefix = "decision"  # "From now on the port is 9090" names a value, and forbids nothing.
    if prefix in ("fact", "reversal") and subject.attribute in _PERSONS:
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
    plain = fold_case(noun).strip()
    known = _CANON.get(plain) or known_topic(plain)
    return (known, True) if known else (slug(plain, 40), False)


def _named(patterns: tuple[re.Pattern[str], ...], text: str, *, zh: bool) -> Subject | None:
    for pattern in patterns:
        for found in pattern.finditer(text):
            name = _han_name(found["e"]) if zh else _en_name(found["e"])
            noun = found["a"] or found.groupdict().get("b") or ""
            attribute, known = attribute_of(noun)
            empty = not known and (
                pattern in _LOOSE
                or (_HAN_EMPTY if zh else _EMPTY).search(noun)
                or (zh and not _HAN_STATES.match(text, found.end("a")))
            )
            if _is_name(name, zh=zh) and not empty:
                return Subject(slug(name, 40), attribute, known, f"{name} {noun}")
    return None


def _mine(pattern: re.Pattern[str], text: str) -> Subject | None:
    found = pattern.search(text)
    if found is None:
        return None
    attribute, known = attribute_of(found["a"])
    if not known and (_EMPTY.search(found["a"]) or _HAN_EMPTY.search(found["a"])):
        return None
    return Subject(ME, attribute, known, found[0])


def _ours(pattern: re.Pattern[str], text: str) -> Subject | None:
    for found in pattern.finditer(text):
        noun = found["a"] or found["b"]
        attribute, known = attribute_of(noun)
        end = found.end("a" if found["a"] else "b")
        short = noun.isascii() or len(noun) < _LONG_NOUN
        if known and (short or _HAN_STATES.match(text, end)):
            return Subject("", attribute, known, noun)
    return None


def _han_name(run: str) -> str:
    name = run
    while (shorter := _HAN_LEAD.sub("", name)) != name:
        name = shorter
    name = re.sub(r"^(?:今年|去年|明年|本周|这周|上周|给|麻烦|目前)", "", name)
    return re.sub(r"(?:项目组?|团队|那边|这边|那里|这里|目前|现在|定|已经?)+$", "", name)


def _en_name(run: str) -> str:
    """Return a name without the verb that a sentence may begin with."""
    first, _, rest = run.partition(" ")
    return rest if rest and fold_case(first) in _VERBS else run


def _is_name(name: str, *, zh: bool) -> bool:
    if zh and not name.isascii():
        return 2 <= len(name) <= _LONGEST and not (
            _HAN_NO_NAME.search(name) or _HAN_CLAUSE.search(name)
        )
    return len(name) >= 2 and fold_case(name).split()[0].split("'")[0] not in _NO_NAME
