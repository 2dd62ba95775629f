"""Text laid out in columns: its width on a terminal, cut, and broken into lines between words."""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import combining, east_asian_width

from kimi_memory.nlp.basic.patterns import regex

# A word with the blanks behind it, or one character of a script that is written without blanks.
_PIECE = regex(r"[ \t]+|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+|\S")
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
    for piece in _PIECE.findall(text):
        is_bound = piece.isspace() or piece[0] in _NOT_FIRST or (held and held[-1] in _NOT_LAST)
        if held and not is_bound:
            yield held
            held = ""
        held += piece
    if held:
        yield held
