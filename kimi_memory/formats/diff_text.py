"""A diff as it is shown: file by file, with what only keeps the books folded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_BOOKS = re.compile(r"[+-](?:updated|generated|temperature|checksum|digest): ")
_FOLDED = re.compile(r"mid-term/jobs/.*|.*\.jsonl|\.kimi/.*")
MOST = 400
"""So many lines of a file are shown."""


class DiffFile(NamedTuple):
    """What changes in one file."""

    path: str
    lines: tuple[tuple[str, str], ...]
    """What each line is, ``+``, ``-``, ``@`` or blank, and its text."""
    folded: bool
    left: int
    """How many lines are not shown."""
    added: int
    removed: int


def split_diff(text: str) -> list[DiffFile]:
    """Return the files of a unified diff; lines that only keep the books are left out."""
    return list(_files(text.splitlines()))


def _files(lines: list[str]) -> Iterator[DiffFile]:
    path, held = "", list[tuple[str, str]]()
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("diff --git ") or (line.startswith("--- ") and after.startswith("+++ ")):
            if path and held:
                yield _close(path, held)
            path, held = (path if line.startswith("diff") else _name(line, after)), []
            if line.startswith("diff"):
                path = ""
        elif line.startswith("+++ ") and path and not held:
            continue
        elif path and not _BOOKS.match(line) and line[:1] in ("+", "-", "@", " "):
            held.append((line[:1].strip(), line if line.startswith("@") else line[1:]))
    if path and held:
        yield _close(path, held)


def _changed_hunks(lines: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the hunks that change more than the books."""
    hunk: list[tuple[str, str]] = []
    for line in [*lines, ("@", "")]:
        if line[0] == "@":
            if any(sign in ("+", "-") for sign, _ in hunk):
                yield from hunk
            hunk = []
        hunk.append(line)


def _name(old: str, new: str) -> str:
    chosen = new if new != "+++ /dev/null" else old
    return chosen[4:].removeprefix("a/").removeprefix("b/").strip('"')


def _close(path: str, lines: list[tuple[str, str]]) -> DiffFile:
    lines = list(_changed_hunks(lines))
    signs = [sign for sign, _ in lines]
    shown = tuple(lines[:MOST])
    return DiffFile(
        path, shown, _FOLDED.fullmatch(path) is not None, len(lines) - len(shown),
        signs.count("+"), signs.count("-"),
    )  # fmt: skip
