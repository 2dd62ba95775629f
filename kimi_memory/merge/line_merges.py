"""What git leaves in a file where it merges by lines: its marks, or two sessions in one file.

Of a file with marks, the versions are shown that met there. Where two sessions were joined, the
first keeps the id. Each further one is called after it and after its own first line, so that every
copy gives it the same name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.domain.session import Session
from kimi_memory.formats.jsonl import session_line, session_of, unseal

_OURS = b"<<<<<<< "
_BASE = b"|||||||"
_MIDDLE = b"======="
_THEIRS = b">>>>>>> "
# A fence of a code block as CommonMark has it: indented by three spaces at most.
_FENCE = re.compile(rb" {0,3}(```+|~~~+)")
# As a sealed line spells it; the JSON is read only where these bytes are met.
_HEADER = b'"kind":"session"'


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


class Part(NamedTuple):
    """The lines of one session in a file that may hold more."""

    first: int
    """The line of the file it begins in, from 1."""
    lines: list[bytes]
    """Its own lines, with its own id in the header."""
    session: Session | None = None
    """Its header; None for the first session, which nobody had to read."""


def parts_of(lines: Sequence[bytes]) -> list[Part]:
    """Return the sessions in the lines of a file, in order; nearly always one."""
    found = [(at, made) for at, made in enumerate(map(_parse_header, lines)) if made is not None]
    if len(found) < 2:
        return [Part(1, list(lines))]
    first, *more = found
    starts = [0, *(at for at, _ in more), len(lines)]
    parts = [Part(1, list(lines[: starts[1]]))]
    for (at, session), end in zip(more, starts[2:], strict=True):
        # Of its first line, which is the same in every copy of the memory.
        mark = hashlib.sha256(lines[at]).hexdigest()[:8]
        own = replace(session, id=f"{first[1].id}-{mark}")
        parts.append(Part(at + 1, [session_line(own), *lines[at + 1 : end]], own))
    return parts


def is_joined(content: bytes) -> bool:
    """Whether a session file holds more than one session."""
    return content.count(_HEADER) > 1 and len(parts_of(content.splitlines(keepends=True))) > 1


def _parse_header(line: bytes) -> Session | None:
    if _HEADER not in line:
        return None
    try:
        record = unseal(line)
        return session_of(record) if record.get("kind") == "session" else None
    except ValueError:
        # A turn may hold these bytes as its text, or the line was torn.
        return None
