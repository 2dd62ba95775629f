"""How much a sentence tells of somebody's life, for a reader who knows nothing of its session."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.rules.salience import traits_of

_LASTING = regex(
    r"\b(?:my name|call me|i(?:'m|’m| am) (?:[a-z]+, ?)?\d\d\b|i(?:'m|’m| am) [a-z]+, an? "
    r"|allerg|intoleran|diabet|asthma|coeliac|celiac|epilep|diagnosed (?:with|as|him|her|me|us)|(?:was|been|got|were) (?:\w+ )?diagnosed|my (?:\w+ )?diagnosis|my doctor|vegetarian|vegan"
    r"|pregnan|years? old|i(?: am|'m|’m) an? |i (?:live|work|teach|study|moved) "
    r"|i(?: was|'m|’m| am) (?:born|from))"
    r"|\bi(?:'ve| have|'ve got| got) (?:gout|ibs|migraines?|arthritis|eczema|anaemia|anemia|adhd|hypertension|tinnitus|high blood pressure)"
    r"|我有[^，。]{0,4}(?:痛风|尿病|血压|哮喘|鼻炎|癫痫|贫血|头痛|心脏|湿疹|近视)|我叫|我是|叫我|过敏|忌[口辣]|怀孕|吃素|医生说|[炎症病]，|住在|我在.{1,12}[做上开教读]|\d岁|老家",
    re.IGNORECASE,
)
_PASSING = regex(
    r"\bstill (?:inside|not|doesn'?t|does|getting|there|seeing|fail\w*|broken|the same)\b"
    r"|\b(?:we|i) (?:now |still )?(?:have|see|get) (?:only )?(?:\d+|one|two|three) (?:errors?|failures?)\b"
    r"|\bonly (?:one|\d+) (?:errors?|failures?)\b|\beverything (?:now |still )?works\b|\bit (?:now|still) works\b"
    r"|\b(?:doesn'?t|does not|don'?t|didn'?t) work\b|\b(?:isn'?t|is not|not) working\b"
    r"|\b(?:the )?same (?:error|problem|issue)\b|\bi'?m (?:still )?(?:getting|seeing)\b|\bregressed\b"
    r"|\b(?:is|are|was|were) (?:(?:now|all|still) ){0,2}(?:failing|broken|successful)\b"
    r"|\bi(?:'ve| have)? (?:made (?:some|a few|a) (?:mistakes?|errors?|typos?)|fixed (?:it|them|that|this)\b)|^\W*re-?read\b"
    r"|\b(?:appears?|seems?) to be \w+ing\b|\bFAIL(?:ED)?\b|\bi (?:found|see) it\b|\bi (?:opened|saved|tried) (?:it|the file)\b"
    r"|仍然?有|还是(?:有问题|不行|报错)|出现了?(?:以下)?(?:问题|错误)|报错|不好使|没反应|没有效果",
    re.IGNORECASE,
)
_GIVES_VALUE = regex(
    r"(?:\b(?:is|are|at|=)|[:：是为用])\s*[`\"]?[\w./:@-]*\d[\w./:@-]{3,}[`\"]?\W*$", 2
)
_DEFECT = regex(
    r"^(?!.{0,40}\b(?:i|we|i'm|we're|let's|i'll|we'll)\b)\W*(?:(?:but|and|so|also|now|hm+|ok(?:ay)?|still|however)\b,? )*(?:the|this|that|these|those|my|our|it|its|when|if|after|some|all|clicking|`[^`\n]{1,60}`)(?!\w)[^.;!?]{0,80}?\b(?:do(?:es)?(?:n'?t| not)|is(?:n'?t| not)|are(?:n'?t| not)|won'?t|(?:still|also|always|sometimes|now) (?:fails?|shows?|crash\w*|breaks?|gets?|jumps?|flickers?|overlaps?|cuts?|throws?|hangs?)|keeps? \w+ing|stopped \w+ing|no longer (?:works?|shows?|loads?|opens?|responds?|fits?))\b"
    r"|(?:没有?|不|无法|不能|还是不?)(?:生效|显示|正常|起作用|工作|响应|变化|更新|对齐|刷新|居中|跳转|弹出|出来)|显示(?:得?有些?|有点|得)?(?:不|异常|错)|点(?:了|击)?[^，。]{0,6}(?:没|不)(?:反应|动|管用)|看不到|报错|[全都]变?不(?:一样|对|见)了|被(?:遮|挡|截断|覆盖|盖住)|错位|闪退|卡(?:死|住)",
    2,
)
"""What a thing fails to do is mended with the next message, and settles nothing."""
GOING_ON = regex(
    r"\blet'?s (?:switch gears|move on|get (?:started|going|back)|keep (?:going|working|at it)"
    r"|(?:continue|carry on|proceed)(?! (?:with|using))|pause|take a (?:break|breather|step back|look)"
    r"|have a look|wrap (?:it |this )?up|call it a (?:day|night)|try (?:that|it|this|again))\b"
    r"|[咱我]们?(?:继续吧|先歇|休息一下|往下走|换个话题)",
    re.IGNORECASE,
)
"""How the talk itself goes on is over with the next message."""
_LOOSE = regex(
    r"[`(\[]|(?:he|she|it|they|that|this|these|those|him|her|them|there)\b|[他她它那这]",
    re.IGNORECASE,
)
"""A sentence that begins so says nothing without the one before it."""


@keep_results(4096)
def is_lasting(text: str) -> bool:
    """Whether a sentence tells what holds for years: a name, work, home, age, health, diet."""
    return _LASTING.search(text) is not None


def gives_value(text: str) -> bool:
    """Whether a sentence ends in a value: "the id of the mod is 3675848606"."""
    return _GIVES_VALUE.search(text) is not None


def reports_trouble(text: str) -> bool:
    """Whether a sentence tells what fails just now: once it is mended nobody asks for it."""
    return tells_defect(text) or is_passing(text)


@keep_results(4096)
def is_passing(text: str) -> bool:
    """Whether a message says how a piece of work stands: the next one says it anew."""
    return _PASSING.search(text) is not None


@keep_results(4096)
def tells_defect(text: str) -> bool:
    """Whether a clause says what a thing fails to do: "the modal does not adjust"."""
    return _DEFECT.search(text.replace("’", "'")) is not None


@keep_results(4096)
def worth_of(text: str) -> float:
    """Return how much a sentence tells: 0 or less for small talk, about 6 for a life event."""
    traits = traits_of(text)
    worth = 0.5 * min(traits.specific, 6.0) + 1.0 * traits.me + 1.2 * traits.kin
    worth += 0.8 * traits.figure + 0.5 * min(traits.name, 2) + 0.6 * traits.day
    worth += 0.7 * traits.choice - 1.5 * traits.doubt - 0.7 * traits.sharp
    worth -= 1.0 * (traits.you and not traits.me) + 1.5 * (_LOOSE.match(text) is not None)
    return worth + 2.0 * is_lasting(text)
