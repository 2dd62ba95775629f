"""Questions that ask for several things at once: which books, how often, 哪些, in what order."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.characters import simplify
from kimi_memory.nlp.basic.patterns import regex

_SEVERAL = regex(
    r"^(?:in what ways|what are|what were|who are|who were|list|summari[sz]e)\b"
    r"|\bhow (?:many|often)\b|\bhow (?:has|have)\b|\bboth\b|\bin common\b"
    r"|\b(?:summary|overview) of\b|\bthe (?:order|sequence) in which\b|\bin what order\b"
    r"|哪些|哪几|分别|分別|几次|幾次|多少次|几个|幾個|列出|所有|[请請].{0,4}(?:总结|總結|概括)|^(?:总结|總結|概括)|先后顺序|先後順序"
    r"|都(?:[^，。？?,]{0,6})(?:什么|什麼|哪|谁|誰)",
    re.IGNORECASE,
)
_OVER_TIME = regex(
    r"\bin (?:which|what) (?:order|sequence)\b|\bthe (?:order|sequence) (?:in which|of)\b"
    r"|\bchronolog\w+|\btime ?line\b|\bover (?:time|the (?:weeks|months|years|course))\b"
    r"|\bfrom (?:start|beginning) to (?:end|finish|now)\b|\bstep by step so far\b"
    r"|\b(?:summari[sz]e|recap|retrace|review|walk me through)\b[^.?!]{0,40}\b(?:how|everything|all)\b"
    r"|\bhow (?:did|has|have|had) (?:\S+ ){1,6}?(?:chang|evolv|develop|progress|grow|gr[eo]w|unfold)\w*"
    r"|(?:按|依照|根据)(?:照)?(?:时间|先后|日期)(?:的)?(?:顺序|先后)?|时间线|先后顺序|(?:以|按)什么顺序"
    r"|来龙去脉|从头到尾|从开始到现在|一路(?:上|走来)|(?:怎么|如何|怎样)一步步|(?:怎么|如何|怎样)(?:变化|演变|发展)"
    r"|(?:变化|演变|发展|进展)(?:的)?过程|(?:总结|概括|回顾|梳理)[^。？?]{0,12}(?:怎么|如何|过程|经过|全部|所有|整个)",
    re.IGNORECASE,
)
# What has somebody done, in the main clause: one of "the studio that he has opened" is one.
_DONE = regex(
    r"^(?:(?:in|from|on|at|to|for|with) )?(?:what|which|where|who|whom)"
    r"(?: [\w'’+-]+){0,4}? (?:has|have) (?!been\b|to\b)(?P<rest>.*)",
    re.IGNORECASE,
)
_HABIT = regex(
    r"^what (?:do|does)(?: (?!(?:want|plan|hope|need|feel|tell|say|to)\b)[\w'’&-]+){1,4}?"
    r" (?:do|like|love|enjoy|prefer|hate|dislike)\b",
    re.IGNORECASE,
)
_CLAUSE = regex(r"\b(?:that|who|which|when|where|while)\b", re.IGNORECASE)
_KIND = regex(r"^(?:what|which) (?:kind|type|sort)s? of\b", re.IGNORECASE)
_PLURAL = regex(
    r"^(?:(?:in|from|on|at|to) )?(?:what|which)(?: [\w-]+){0,2}? (?P<noun>[a-z]{3,}s)\b(?!['’])",
    re.IGNORECASE,
)
# "Which class", "what status", "which series": an s that makes no plural.
_SINGULAR = regex(r"(?:ss|us|is)$|^(?:does|was|has|always|perhaps|besides|news|series|process)$")


def asks_for_several(text: str) -> bool:
    """Whether an answer has parts that may stand far apart."""
    question = text.strip()
    if _SEVERAL.search(question) or _KIND.search(question) or asks_over_time(question):
        return True
    if _HABIT.search(question) or _asks_what_was_done(question):
        return True
    found = _PLURAL.match(question)
    return found is not None and not _SINGULAR.search(found["noun"].lower())


def asks_over_time(text: str) -> bool:
    """Whether an answer runs over a whole conversation or life: in which order, how it changed."""
    return _OVER_TIME.search(simplify(text)) is not None


def _asks_what_was_done(question: str) -> bool:
    found = _DONE.match(question)
    # From the fourth character on: the question word itself may be "who" or "which".
    return found is not None and not _CLAUSE.search(question[4 : found.start("rest")])
