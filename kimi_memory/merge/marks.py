"""Marks that a merge of git leaves in a file: where they stand, and which versions they show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_OURS = b"<<<<<<< "
_BASE = b"|||||||"
_MIDDLE = b"======="
_THEIRS = b">>>>>>> "
# A fence of a code block as CommonMark has it: indented by three spaces at most.
_FENCE = re.compile(rb" {0,3}(```+|~~~+)")


def has_marks(path: str, content: bytes) -> bool:
    """Whether a merge left its marks in a file: all of them, in order, outside of a code block.

    A line of equals signs alone is a heading, and what shows the marks in a block of code
    is about git. Records hold neither.
    """
    return line_of_marks(path, content) > 0


def line_of_marks(path: str, content: bytes) -> int:
    """Return the line where the marks of a merge begin, 0 where there are none."""
    # The last of the marks, and the rarest: nearly every file is done here.
    if b"\n" + _THEIRS not in content:
        return 0
    first = next(_find_conflicts(path, content.splitlines()), None)
    return 0 if first is None else first.start + 1


class MarkedSides(NamedTuple):
    """The three versions that a file with marks shows."""

    base: bytes
    """Without the lines in dispute, where git did not show what both sides began with."""
    ours: bytes
    theirs: bytes


def split_marks(path: str, content: bytes) -> MarkedSides:
    """Return the versions that a file with marks shows."""
    lines, at = content.splitlines(keepends=True), 0
    sides: tuple[list[bytes], ...] = ([], [], [])
    for conflict in _find_conflicts(path, content.splitlines()):
        for side, shown in zip(sides, _split_conflict(lines[slice(*conflict)]), strict=True):
            side += [*lines[at : conflict.start], *shown]
        at = conflict.end
    base, ours, theirs = (b"".join([*side, *lines[at:]]) for side in sides)
    return MarkedSides(base, ours, theirs)


class _Conflict(NamedTuple):
    """The lines of a conflict, those with the marks among them."""

    start: int
    end: int


def _find_conflicts(path: str, lines: Sequence[bytes]) -> Iterator[_Conflict]:
    fence, begun, middle = b"", -1, False
    for number, line in enumerate(lines):
        block = _FENCE.match(line) if path.endswith(".md") and begun < 0 else None
        if block is not None:
            fence = _update_fence(fence, block[1])
        elif fence:
            continue
        elif line.startswith(_OURS):
            begun, middle = number, False
        elif begun >= 0 and line == _MIDDLE:
            middle = True
        elif begun >= 0 and middle and line.startswith(_THEIRS):
            yield _Conflict(begun, number + 1)
            begun = -1


def _update_fence(fence: bytes, mark: bytes) -> bytes:
    """Return the mark of the block of code that is open after a line that is one."""
    if not fence:
        return mark
    return b"" if mark[:1] == fence[:1] and len(mark) >= len(fence) else fence


def _split_conflict(lines: Sequence[bytes]) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return the lines of the base and of both sides in a conflict."""
    base, ours, theirs = list[bytes](), list[bytes](), list[bytes]()
    side = ours
    for line in lines[1:-1]:
        plain = line.rstrip(b"\r\n")
        if side is ours and (plain == _BASE or plain.startswith(_BASE + b" ")):
            side = base
        elif side is not theirs and plain == _MIDDLE:
            side = theirs
        else:
            side.append(line)
    return base, ours, theirs
