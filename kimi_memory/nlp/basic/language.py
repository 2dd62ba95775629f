"""The language of a text: Chinese or English."""

from __future__ import annotations

import re
from typing import Literal

from kimi_memory.nlp.basic.cjk import HAN, is_han
from kimi_memory.nlp.basic.regex import regex

__all__ = ["is_han", "language_of"]

_HAN = regex(f"[{HAN}]")
# Code, addresses and identifiers have no language.
_NEUTRAL = regex(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?<!\w)\w+://[^\s，。；！？）】」]+"
    # Within a long word nothing begins: looking there again would take its length squared.
    r"|(?<![A-Za-z0-9-])[A-Za-z0-9-]*(?:[_./@:\\][A-Za-z0-9-]+)+",
    re.DOTALL | re.ASCII,
)
_WORD = regex(r"[A-Za-z]+(?:['’][a-z]+)?")
# Small words prove an English sentence; names of products and people prove nothing.
_SMALL_WORDS = (
    "a an and are as at be but by can could did do does for from had has have he her him his how "
    "i if in into is it its just me my need not of on or our please she should so than that the "
    "their them then there they this to us was we were what when where which who why will with "
    "would you your don't doesn't i'm it's can't"
)
_SMALL = frozenset(_SMALL_WORDS.split())


def language_of(text: str) -> Literal["zh", "en"]:
    """Return the language a reader would say `text` is in; English without letters.

    A Chinese sentence full of English product names is Chinese, an English one
    that quotes Chinese words is English.
    """
    prose = text if text.isascii() else _NEUTRAL.sub(" ", text)
    han = len(_HAN.findall(prose))
    if not han:
        return "zh" if _HAN.search(text) and not _WORD.search(prose) else "en"
    words = [word.lower() for word in _WORD.findall(prose)]
    small = sum(word in _SMALL for word in words)
    # A Chinese word has about 1.6 characters.
    return "zh" if han / 1.6 > len(words) * 0.35 + small * 1.5 else "en"
