"""Notes as earlier commits had them: read from their bytes, and held against tombstones."""

from __future__ import annotations

from functools import lru_cache

from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Event
from kimi_memory.domain.tombstone import Tombstones
from kimi_memory.formats import codec


@lru_cache(maxsize=1024)
def read_note(path: str, content: bytes) -> Note | None:
    """Return the note of a file; None for one that could not be read even then."""
    return codec.read_note(content, path)


def is_barred(stones: Tombstones, note: Note) -> bool:
    """Whether a person asked to forget what a note says."""
    if stones.names(note.id):
        return True
    if not isinstance(note, Card | Event):
        return False
    scopes = {"memory", f"project:{note.project}", note.scope}
    texts = [note.value] if isinstance(note, Card) else [note.title]
    return stones.bars(scopes, note.key, texts, [quote.text for quote in note.quotes])
