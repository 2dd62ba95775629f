"""A card whose word does not count yet, as the candidate that it is."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.note import Card, Origin, Status, least_trusted
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode

_LIVE = frozenset({Status.ACTIVE, Status.STALE, Status.CONFLICTED})


def join_lines(one: bytes, other: bytes) -> bytes:
    """Return the lines of two files, each once."""
    lines = dict.fromkeys([*one.splitlines(), *other.splitlines()])
    return b"".join(line + b"\n" for line in lines)


def as_candidate(path: str, content: bytes, cap: Origin) -> bytes:
    """Return a card as the candidate that it is; nothing for what is no card."""
    try:
        text = decode(content, path)
        note = codec.parse(text, path) if path.endswith(".md") else None
    except FormatError:
        # A broken file cannot be shown as a candidate, so nothing of it is shown.
        return b""
    if not isinstance(note, Card):
        return b""
    status = Status.CANDIDATE if note.status in _LIVE else note.status
    trust = least_trusted([note.trust, cap])
    return codec.patch(text, note, replace(note, status=status, trust=trust), path).encode()
