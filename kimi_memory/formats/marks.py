"""Marks of lines: the id of the note that a line is from, at its very end."""

from __future__ import annotations

import re

_MARK = re.compile(r"^(?P<text>.*\S)\s+\^(?P<id>(?:card|event|digest)-[0-9a-z]+)$", re.DOTALL)


def marked(text: str, id: str) -> str:
    """Return a line that tells what it is from."""
    return f"{text} ^{id}"


def split_mark(line: str) -> tuple[str, str]:
    """Return a line without its mark, and the id it tells; empty where it has none."""
    found = _MARK.match(line)
    return (found["text"], found["id"]) if found else (line, "")
