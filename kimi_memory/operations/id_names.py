"""Ids in what jobs say, shown as what their notes are known by."""

from __future__ import annotations

from collections.abc import Iterator

from kimi_memory.api.memory import Memory
from kimi_memory.errors import KimiMemoryError
from kimi_memory.nlp.basic.patterns import regex

# "card-01kjheh4t8t16gm3nqrt33g10q": a kind, and the 26 letters of a ULID.
_ID = regex(r"\b[a-z]{3,12}-[0-9a-z]{26}\b")


def title_of(memory: Memory, id: str) -> str:
    """Return what a note is known by; its id where it is not there, or has no title."""
    try:
        note = memory.get(id).note
    except KimiMemoryError:
        # The id is what is left of a note that went.
        return id
    return str(getattr(note, "value", "") or getattr(note, "title", "")) or id


def split_ids(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of what a job says, such as "replaces card-…", each id as its own piece.

    With each piece comes the id that it is; an empty text with what stands between.
    """
    end = 0
    for found in _ID.finditer(text):
        if found.start() > end:
            yield text[end : found.start()], ""
        yield found[0], found[0]
        end = found.end()
    if end < len(text):
        yield text[end:], ""
