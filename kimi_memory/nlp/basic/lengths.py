"""How long a text is: in tokens of a language model, and in columns of a terminal.

Tokens are estimated, as every model has a tokenizer of its own. The figures follow the rules
of thumb that model makers publish (English: 1 token is about 4 characters or 0.75 words;
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

from collections.abc import Iterator
from math import ceil
from unicodedata import combining, east_asian_width

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


# A word with the blanks behind it, or one character of a script that is written without blanks.
_UNBROKEN = regex(r"[ \t]+|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+|\S")
_NOT_FIRST = frozenset("，。、；：？！）》」』】〕”’…—·%),.;:?!]}»")
"""What never begins a line."""
_NOT_LAST = frozenset("（《「『【〔“‘([{«")
"""What never ends one."""


def count_columns(text: str) -> int:
    """Return how many columns a text takes: hanzi take two, accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def pad(text: str, columns: int) -> str:
    """Return a text with blanks behind it, up to so many columns."""
    return text + " " * (columns - count_columns(text))


def cut(text: str, columns: int) -> str:
    """Return a text of at most so many columns; what is cut off ends in an ellipsis."""
    if count_columns(text) <= columns:
        return text
    kept, used = "", 1
    for one in text:
        used += count_columns(one)
        if used > columns:
            break
        kept += one
    return f"{kept.rstrip()}…"


def wrap(line: str, columns: int, hang: int | None = None) -> Iterator[str]:
    """Yield the lines of one line, broken between words or hanzi, indented as it was and more.

    Args:
        line: without a line feed.
        columns: how wide the lines may be; 0 for any width.
        hang: where the lines behind the first begin; by default two columns behind its indentation.
    """
    if not columns or count_columns(line) <= columns:
        yield line
        return
    start = len(line) - len(line.lstrip())
    hanging = " " * min(start + 2 if hang is None else hang, columns // 2)
    shown, used = line[:start], start
    for piece in _join_pieces(line[start:]):
        wide = count_columns(piece.rstrip())
        if used + wide > columns and shown.strip():
            yield shown.rstrip()
            shown, used = hanging, len(hanging)
        # An address longer than a line is broken by the terminal, so that it can be copied whole.
        shown += piece
        used += count_columns(piece)
    yield shown.rstrip()


def _join_pieces(text: str) -> Iterator[str]:
    """Yield what stays together: a word, or a character with the marks around it."""
    held = ""
    for piece in _UNBROKEN.findall(text):
        is_bound = piece.isspace() or piece[0] in _NOT_FIRST or (held and held[-1] in _NOT_LAST)
        if held and not is_bound:
            yield held
            held = ""
        held += piece
    if held:
        yield held
