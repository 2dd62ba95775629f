"""Text for a terminal: as wide as it is, in colours where it has some."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from kimi_memory.nlp.basic.columns import count_columns, cut, pad, wrap

__all__ = [
    "count_columns",
    "cut",
    "find_width",
    "is_coloured",
    "pad",
    "paint",
    "paint_diff",
    "print_error",
    "wrap",
]

_NARROWEST = 40
"""Fewer columns are not laid out for: most would be indentation."""
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


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
