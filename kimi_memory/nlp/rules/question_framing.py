"""How a question is put: what introduces it, whether it asks for a reply or an earlier value."""

from __future__ import annotations

import re

from kimi_memory.nlp.basic.characters import simplify
from kimi_memory.nlp.basic.patterns import regex

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


def asks_for_reply(text: str) -> bool:
    """Whether a question asks what an assistant said, not what the person who asks did."""
    return _REPLY.search(simplify(text)) is not None


def without_introduction(text: str) -> str:
    """Return a question without what only introduces it: "can you remind me", 请问."""
    return _INTRODUCTION.sub(" ", simplify(text))


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
