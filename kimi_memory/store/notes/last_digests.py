"""The digests of the last sessions, found by what the heads of notes say."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from kimi_memory.domain.note import Note, Status
from kimi_memory.domain.pages import Digest
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.store.notes.notes import Shelf

SESSIONS = 12
"""So many of the last sessions are looked at."""
OVER = frozenset({Status.SUPERSEDED, Status.ARCHIVED})
"""The states of what does not hold any more."""


def last_digests(shelf: Shelf, new: Mapping[str, Note]) -> list[Digest]:
    """Return the digests of the last sessions, newest first; of the others no file is read."""
    entries = [e for e in shelf.entries().values() if e.kind == Digest.kind and e.id not in new]
    newest = sorted(entries, key=lambda entry: (entry.at, entry.path), reverse=True)
    read = (read_note(shelf, entry.path) for entry in islice(newest, SESSIONS))
    found = [note for note in (*new.values(), *read) if isinstance(note, Digest)]
    live = (digest for digest in found if digest.status not in OVER)
    return sorted(live, key=lambda digest: (digest.at, digest.id), reverse=True)[:SESSIONS]


def read_note(shelf: Shelf, path: str) -> Note | None:
    """Return the note of a file; a broken one says nothing."""
    try:
        text = shelf.survey.fact(path, "text", lambda content: decode(content, path), served=True)
        return codec.parse(text, path)
    except (FormatError, NotFoundError):
        return None
