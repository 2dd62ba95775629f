"""Files that hold two sessions, as git leaves them where it merges by joining lines.

The first session keeps the id. Each further one is called after it and after its own
first line, so that every copy gives it the same name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.domain.session import Session
from kimi_memory.formats.jsonl import session_line, session_of, unseal

# As a sealed line spells it; the JSON is read only where these bytes are met.
_MARK = b'"kind":"session"'


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
    return content.count(_MARK) > 1 and len(parts_of(content.splitlines(keepends=True))) > 1


def _parse_header(line: bytes) -> Session | None:
    if _MARK not in line:
        return None
    try:
        record = unseal(line)
        return session_of(record) if record.get("kind") == "session" else None
    except ValueError:
        # A turn may hold these bytes as its text, or the line was torn.
        return None
