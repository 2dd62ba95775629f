"""Evidence of a note: the quotes that speak for it."""

from __future__ import annotations

from kimi_memory.domain.note import Card, Note, Quote, Rel
from kimi_memory.domain.pages import Event


def supporting(note: Note) -> tuple[Quote, ...]:
    """Return the quotes a note rests on, without those that speak against it."""
    against = {s.quote for s in note.sources if s.rel is Rel.CONTRADICTS}
    against -= {s.quote for s in note.sources if s.rel is not Rel.CONTRADICTS}
    quotes = note.quotes if isinstance(note, Card | Event) else ()
    return tuple(quote for quote in quotes if quote.hash not in against)
