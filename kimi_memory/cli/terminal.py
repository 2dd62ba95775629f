"""Text laid out for a terminal: its width in columns, lines broken between words, colours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TextIO
from unicodedata import combining, east_asian_width

from kimi_memory.nlp.basic.patterns import regex

_NARROWEST = 40
"""Fewer columns are not laid out for: most would be indentation."""
# A word with the blanks behind it, or one character of a script that is written without blanks.
_PIECE = regex(r"[ \t]+|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+|\S")
_NOT_FIRST = frozenset("，。、；：？！）》」』】〕”’…—·%),.;:?!]}»")
"""What never begins a line."""
_NOT_LAST = frozenset("（《「『【〔“‘([{«")
"""What never ends one."""
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


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


def find_width(stream: TextIO | None = None) -> int:
    """Return how many columns lines are laid out for; 0 where they stay as they are.

    Args:
        stream: where they are printed; standard output if None.
    """
    # Programs that read a pipe need each line whole.
    if not (stream or sys.stdout).isatty():
        return 0
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def print_error(text: str) -> None:
    """Print a line, safe to print already, to standard error, as wide as the terminal."""
    for part in wrap(text, find_width(sys.stderr)):
        print(part, file=sys.stderr)


def wrap(line: str, columns: int, hang: int = 0) -> Iterator[str]:
    """Yield the lines of one line, broken between words or hanzi, indented as it was and more.

    Args:
        line: without a line feed.
        columns: how wide the lines may be; 0 for any width.
        hang: where the lines behind the first begin; 0 for two columns behind its indentation.
    """
    if not columns or count_columns(line) <= columns:
        yield line
        return
    start = len(line) - len(line.lstrip())
    hanging = " " * min(hang or start + 2, columns // 2)
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


def is_coloured() -> bool:
    """Whether standard output takes colours and the reader wants them."""
    # https://no-color.org: any value but an empty one turns them off.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def paint(text: str, style: str) -> str:
    """Return a text, safe to print already, in a style where there are colours."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text and is_coloured() else text


def paint_diff(line: str) -> str:
    """Return a line of a diff, safe to print already, in the colours git has."""
    if line.startswith(("--- ", "+++ ", "diff ", "index ")):
        return paint(line, "bold")
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return paint(line, styles[line[0]]) if line[:1] in styles else line
