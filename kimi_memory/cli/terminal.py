"""Text for a terminal: in the reader's language, as wide as it is, in colours, page by page."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from kimi_memory.formats.chinese import (
    read_chinese,
    translate_check,
    translate_finding,
    translate_message,
)
from kimi_memory.nlp.basic.counted import AGREEING, agree
from kimi_memory.nlp.basic.lengths import count_columns, cut, pad, wrap

__all__ = [
    "count_columns",
    "cut",
    "find_locale",
    "find_width",
    "is_coloured",
    "pad",
    "paged",
    "paint",
    "paint_diff",
    "print_error",
    "say",
    "say_check",
    "say_finding",
    "translate",
    "wrap",
]

_NARROWEST = 40
"""Fewer columns are not laid out for: most would be indentation."""
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

_COUNTED = re.compile(rf"{{(\w+)}} (?P<words>{AGREEING})")

_OPTIONS = "FRX"
"""Of less: end where all fits on one screen, show colours, and leave the text on the screen."""


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


def find_locale() -> str:
    """Return the language that the terminal speaks, as POSIX looks for it."""
    # In the order of POSIX: the first that is set decides.
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "")


def say(text: str, **values: object) -> str:
    """Return an English text in the reader's language, with values in their places."""
    if _reads_chinese():
        text = read_chinese().get(text, text)
    elif values:
        text = _COUNTED.sub(lambda found: _agree(found, values), text)
    return text.format(**values) if values else text


def _agree(found: re.Match[str], values: Mapping[str, object]) -> str:
    """Return a place for a number and the words after it, in the singular where it is one."""
    value = values.get(found[1])
    count = value if type(value) is int else 0
    return f"{{{found[1]}}} {agree(count, found['words'])}"


def translate(text: str) -> str:
    """Return an English message, its values in their places already, in the reader's language."""
    return translate_message(text) if _reads_chinese() else text


def say_finding(text: str) -> str:
    """Return what a check found in the reader's language, with the parts that have one."""
    return translate_finding(text) if _reads_chinese() else text


def say_check(name: str) -> str:
    """Return the name of a check in the reader's language."""
    return translate_check(name) if _reads_chinese() else name


def _reads_chinese() -> bool:
    return find_locale().startswith("zh")


class _Terminal(io.StringIO):
    """Output that goes to a terminal a little later."""

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed meanwhile through a pager if it is longer than the terminal is high."""
    shown = sys.stdout
    if not shown.isatty():
        yield
        return
    sys.stdout = kept = _Terminal()
    try:
        yield
    finally:
        sys.stdout = shown
        _show(kept.getvalue())


def _show(text: str) -> None:
    size = shutil.get_terminal_size()
    rows = sum(1 + max(0, count_columns(one) - 1) // size.columns for one in text.splitlines())
    pager = _find_pager() if rows >= size.lines else []
    if not pager:
        print(text, end="", flush=True)
        return
    options = {"LESS": _OPTIONS, "LESSCHARSET": "utf-8"}
    # The reader ends it: to stop it with an error of ours would leave the terminal in its state.
    subprocess.run(pager, input=text, encoding="utf-8", env={**options, **os.environ}, check=False)


def _find_pager() -> list[str]:
    """Return the command of the reader's pager; empty where there is none."""
    words = shlex.split(os.environ.get("PAGER", "less"))
    if not words or words[0] == "cat" or shutil.which(words[0]) is None:
        return []
    return words
