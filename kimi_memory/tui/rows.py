"""What the panel lists, and what it shows beside a row: plain values, without a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from kimi_memory.formats.diff_text import split_diff

_ANCHOR = re.compile(r" \^[a-z]+-[0-9a-z]{20,}$")
"""The name of a line for links, which takes a third of it and says nothing to a person."""
Style = str
"""bold, dim, strike, green, red, yellow, cyan, or nothing."""
Part = tuple[str, Style]
"""A piece of text and how it looks."""


class Cell(NamedTuple):
    """A piece of a row."""

    text: str
    style: Style = ""
    width: int = 0
    """In columns; 0 for what is left."""


class Row(NamedTuple):
    """One line of a list."""

    id: str
    cells: tuple[Cell, ...]
    kind: str = ""
    """What can be decided about it: card, waiting, dispute, session, job."""


class Page(NamedTuple):
    """Some rows of a list."""

    rows: tuple[Row, ...]
    total: int
    next: str = ""
    """Where the rows behind them begin; empty at the end."""


class Source(Protocol):
    """What a tab lists."""

    def page(self, words: str, after: str) -> Page:
        """Return rows that words choose, from a place on."""
        ...

    def detail(self, row: Row) -> Iterator[Part]:
        """Yield the lines that stand beside a row."""
        ...


def one_line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def show_diff(diff: str, say: Mapping[str, str]) -> Iterator[Part]:
    """Yield a diff file by file; of records only their names."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for file in split_diff(diff):
        if file.folded:
            yield say["books"].format(path=file.path), "dim"
            continue
        yield file.path, "bold"
        for sign, whole in file.lines:
            line = _ANCHOR.sub("", whole)
            text = line if sign == "@" else f"{sign or ' '}{line}"
            yield text, styles.get(sign, "")
        if file.left:
            yield say["more"].format(count=file.left), "dim"
