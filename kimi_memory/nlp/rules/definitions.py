"""Definitions: what a person says a name of their own stands for: "the first wave: a, b, c"."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex

_DEFINED = regex(
    r"(?:^|[.!?。！？\n])\s{0,4}(?P<said>\W{0,4}(?:(?:so|ok(?:ay)?|and|then|now|那|好|所以|就是)[,，]?\s{0,4}){0,2}"
    r"(?:(?:the|our|my|that)\s{1,4})?(?P<name>[a-z][\w-]*(?: [\w-]+){0,2}|[\u3400-\u9fff\w]{2,8})"
    r"\s{0,4}[:：](?!\d)\s{0,4}(?P<body>[^.!?。！？\n:：]{2,60}(?:[,，、;；][^.!?。！？\n:：,，、;；]{1,60}){1,11}))",
    2,
)
_LABELS = regex(
    r"(?:(?:[\w-]+ ){0,2}(?:said|says|asked|told|wrote|replied)|p\.?s|n\.?b|to-?dos?|notes?|question|answer|summary|reminder|example|e\.g|update|edit|fyi|tl;?dr|options?|list|it|this|that|wait|me|you|also|yes|no|now|today|tomorrow"
    r"|注|备注|问题|问|答|例如|比如|总结|提醒|更新|今天|明天|其中|分别|包括|清单|地址|时间)",
    2,
)
"""What stands before a colon and names nothing."""
_LEAD = regex(
    r"\W*(?:(?:so|and|but|also|ok(?:ay)?|then|the|our|my|that|这|那|我们)[,，]?\s{0,4}){0,3}", 2
)


class Definition(NamedTuple):
    """What a name stands for."""

    name: str
    """In lower case."""
    body: str
    said: str
    """The words of the definition, as they stand in the turn."""


def definitions_in(text: str) -> Iterator[Definition]:
    """Yield the names that a text gives to several things."""
    for found in _DEFINED.finditer(text):
        name = found["name"].lower()
        if not _LABELS.fullmatch(name):
            yield Definition(name, found["body"].strip(), found["said"].strip())


def is_about(sentence: str, definition: Definition) -> bool:
    """Whether a sentence begins with a defined name and does not say itself what it is."""
    low = sentence.lower()
    lead = _LEAD.match(low)
    start = lead.end() if lead else 0
    after = low[start + len(definition.name) :][:1]
    # A hanzi may follow right behind: 第一批要在三月上线.
    apart = not (after.isascii() and after.isalnum())
    return low.startswith(definition.name, start) and apart and definition.body.lower() not in low
