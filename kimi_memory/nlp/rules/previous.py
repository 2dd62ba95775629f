"""Questions about a value that was replaced: "what was it before?", 从哪个状态改过来的."""

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.question_framing import without_introduction

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
