"""How a question is put: what introduces it, and whether it asks for a reply, the past or a list."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import regex, simplify

_SAID = (
    "recommended|suggested|advised|mentioned|said|told|explained|gave|given|listed|provided"
    "|described|proposed|shared|wrote|written|named|offered|drafted|generated|created"
    "|calculated|translated|summari[sz]ed|answered|replied|came up with|pointed out"
)
_SAY = (
    "recommend|suggest|advise|mention|say|tell|explain|give|list|provide|describe|propose|share"
    "|write|name|offer|draft|generate|create|calculate|translate|summari[sz]e|answer|reply"
    "|come up with|point out"
)
_ASSISTANT = "the (?:assistant|ai|chatbot|bot|model)"
# Only of the past: "can you recommend …?" asks for something new.
_REPLY = regex(
    rf"\b(?:you|{_ASSISTANT})(?:['’](?:d|ve))? (?:(?:had|have|also|just|once|previously|earlier"
    rf"|originally|first|last|kindly|specifically) ){{0,2}}(?:{_SAID})\b"
    rf"|\bdid (?:you|{_ASSISTANT}) (?:\w+ ){{0,1}}(?:{_SAY})\b"
    rf"|\b(?:had|have|has) (?:you|{_ASSISTANT}) (?:\w+ ){{0,1}}(?:{_SAID})\b"
    r"|\byour (?:\w+ )?(?:recommendation|suggestion|advice|answer|reply|response|explanation)s?\b"
    r"|(?:你|您|助手|助理)(?:之前|上次|当时|那时|曾经|曾|刚才|以前|先前|前面|给我|跟我|对我|向我|为我|给)*"
    r"(?:推荐|建议|说|提|告诉|解释|列|给|介绍|回答|讲|写|提供|分享)[^，。？?,!！]{0,4}?[过了的]"
    r"|(?:之前|上次|当时|那时|刚才|以前|先前)(?:你|您|助手|助理)(?:给我|跟我|对我|向我|为我|给)?"
    r"(?:推荐|建议|说|提|告诉|解释|列|介绍|回答|讲|写|提供|分享)"
    r"|(?:你|您|助手|助理)的(?:建议|推荐|回答|答复|回复|解释)",
    re.IGNORECASE,
)
# "Can you remind me …", 请问, 我想问一下: such words are in every question and would be looked for
# as if they were its subject.
_INTRODUCTION = regex(
    r"\b(?:(?:can|could|would|will) you )?(?:please )?(?:remind|tell) me\b(?: again)?"
    r"(?: (?:of|about))?|\bdo you (?:still )?(?:remember|recall)\b"
    r"|\bi(?:['’]m| am| was|['’]ve been| have been) (?:just )?(?:wondering|curious"
    r"|trying to (?:remember|recall)|thinking back|(?:going|looking) (?:back|through|over))"
    r"(?: (?:at|to|on|about|if|through|over))*"
    r"|\bi(?: wanted| want|['’]d like| would like) to (?:follow up|check|know|ask)\b"
    r"(?: (?:on|about|if))*"
    r"|\b(?:(?:in|from|during|on|to) )?(?:our|my) (?:previous|last|earlier|past)"
    r" (?:conversation|chat|discussion|session)s?\b(?: (?:about|on|where|regarding))?"
    r"|请问|(?:你|您)?(?:还记得|记不记得|是否记得)"
    r"|(?:(?:能不能|能否|可否|可以|能|请)(?:你|您)?|^|(?<=[，。,!！]))(?:再)?(?:提醒|告诉)(?:一下)?我(?:一下)?"
    r"|我想(?:知道|问一下|问问|问|确认一下|回顾一下)"
    r"|在?(?:我们|咱们)(?:之前|上次|以前|先前)的?(?:对话|聊天|谈话|讨论|交流)(?:中|里|时)?",
    re.IGNORECASE,
)

# "Which database does Maya use?" asks for the database; "I always use four spaces" is no answer.
_CARRIER = regex(
    r"(\b(?:what|which) (?:(?!(?:do|does|did|is|are|was|were|has|have)\b)[\w'’-]+ ){1,4}?"
    r"(?:do|does|did|is|are|has|have) (?:[\w'’-]+ ){1,3}?)(?:use|using|have|got|go with|work with)"
    r"(?=\W*$| (?:now|today|currently|at|for|these days)\b)",
    re.IGNORECASE,
)


def asks_for_reply(text: str) -> bool:
    """Whether a question asks what an assistant said, not what the person who asks did."""
    return _REPLY.search(simplify(text)) is not None


def without_introduction(text: str) -> str:
    """Return a question without what only introduces or carries it: "can you remind me", 请问."""
    return _CARRIER.sub(r"\1 ", _INTRODUCTION.sub(" ", simplify(text)))


_PREVIOUS = regex(
    r"\b(?:previous(?:ly)?|former(?:ly)?|originally|used to|prior (?:to|value|choice|state)"
    r"|(?:changed?|switch(?:ed)?|mov(?:ed?|ing)|migrat(?:ed?|ing)) (?:away )?from"
    r"|before (?:that|this|then|it|(?:the|our|my|we|i|they|he|she)\b[^?.!]{0,20}"
    r"\b(?:chang|switch|mov|migrat|replac)\w*)|(?:was|were|did|had)\b[^?.!]{1,40} before"
    r"|the old (?:one|value|state|address|number|name|plan|version|choice|setting|price|date))\b"
    r"|原来|原先|以前|之前|先前|从前|曾经|旧(?:的|值|状态|地址|方案|号码|名字|版本|价格|日期)"
    r"|从(?:什么|哪)[^，。？?]{0,8}[改换变转]|[改换变](?:之前|以前|前)|上一(?:个|版|次的)(?:值|状态|版本|方案|选择)?",
    re.IGNORECASE,
)


def asks_for_previous(text: str) -> bool:
    """Whether a question asks for what held before something changed."""
    return _PREVIOUS.search(without_introduction(text)) is not None


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


_ASKS_BESIDE = regex(
    r"[，,](?:所以|因此)?我?(?:也|就|还|现在|这次|今天)?(?:特别|很)?[想希]望?再?(?:和你|跟你|听|知道|问|了解|请|让你|看看|评估|确认|验证|咨询|从更)[^。！？]{0,80}[。！]*$"
    r"|, (?:and |so )?(?:i(?:'d| would)? (?:like|love|want) (?:to (?:hear|know|ask|get|evaluate|understand|see|learn|check)|you to|your)|please (?:feel free|let me|tell|give|recommend|suggest)) [^.!?]{0,160}[.!]*$",
    2,
)
"""What a statement asks of its reader at its end: "I live in Ghent, so I'd like to know …"."""
_LEAST = 8
"""A statement before it has so many characters."""


def without_request(sentence: str) -> str:
    """Return a sentence without what it asks for behind what it states."""
    found = _ASKS_BESIDE.search(sentence, _LEAST)
    return sentence[: found.start()] if found else sentence
