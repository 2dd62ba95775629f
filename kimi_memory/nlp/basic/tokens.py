"""How many tokens of a language model a text costs.

An estimate, not a tokenizer: every model has its own. The figures follow the rules of
thumb that model makers publish (English: 1 token is about 4 characters or 0.75 words;
Chinese: 0.6 tokens a character with vocabularies made for it, about 1 with older ones):

==========================  ================================================
Chinese, kana, Hangul       0.8 tokens a character
words in Latin letters      1 token for each 8 letters begun, so 1.2 to 1.3
                            a word of prose with its punctuation
digits                      1 token for each 3 begun
ASCII punctuation           1 token for each 2 that stand together
line breaks, indentation    1 token for each 4 breaks, each 16 spaces after
                            the first
other scripts, full-width   1 token for each 2 characters
punctuation
beyond the basic plane      2 tokens a character (emoji)
==========================  ================================================

The estimate never falls when text is added at the end, and the estimate of a whole
differs from the sum over its parts by at most 3 for each cut.
"""

from __future__ import annotations

from math import ceil

from kimi_memory.nlp.basic.patterns import regex

_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_ASTRAL_HAN = "\U00020000-\U000323af"
_LATIN = (
    r"[A-Za-z\u00c0-\u024f]{1,8}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|[\r\n]{1,4}| [ \t]{1,16}|\t{1,16}"
)
_PIECE = regex(rf"{_LATIN}|[^\x00-\x7f\u00c0-\u024f{_WIDE}\U00010000-\U0010ffff]{{1,2}}")
# The same where nothing is wide; a large set of characters takes a millisecond to compile.
_NARROW_PIECE = regex(rf"{_LATIN}|[^\x00-\x7f\u00c0-\u024f]{{1,2}}")
_FIRST_WIDE = _WIDE[0]
_HAN = regex(f"[{_WIDE}{_ASTRAL_HAN}]+")
_ASTRAL = regex("[\U00010000-\U0001ffff\U000323b0-\U0010ffff]")

WIDE_COST = 0.8
"""Tokens of one Chinese, Japanese or Korean character."""


def estimate(text: str) -> int:
    """Return about how many tokens `text` costs; 0 where nothing is seen."""
    if text.isascii() or max(text) < _FIRST_WIDE:
        return len(_NARROW_PIECE.findall(text))
    pieces = len(_PIECE.findall(text))
    wide = sum(map(len, _HAN.findall(text)))
    return ceil(pieces + wide * WIDE_COST + 2 * len(_ASTRAL.findall(text)))
