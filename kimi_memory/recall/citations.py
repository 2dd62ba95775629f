"""Evidence seen from the turn: the notes that quote what was said there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kimi_memory.domain.note import Card
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Hit, Related, Unit
from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.index.units import served_note
from kimi_memory.recall.filters import standing

QUOTES = "QUOTES"
LIMIT = 3
"""Most notes shown beside a turn."""
_NOTES = ("card", "event")
"""The kinds of notes that have evidence."""
_TRIED = 20
"""So many notes that share the most words with a turn are read for their sources."""


def quoting(
    searcher: Searcher, hits: Iterable[Hit], holding: Bools | None = None
) -> dict[str, tuple[Related, ...]]:
    """Return the notes that rest on each turn among some hits, by its id.

    Args:
        searcher: the memory.
        hits: what was found.
        holding: the only rows that may be shown; those that hold now where not given.
    """
    turns = [hit.unit for hit in hits if hit.unit.kind == "turn"]
    if not turns:
        return {}
    quotes = _Quotes(searcher, standing(searcher) if holding is None else holding)
    return {unit.id: tuple(quotes.find_related(unit))[:LIMIT] for unit in turns}


class _Quotes:
    """The notes of a memory that stand, read when a turn may be their evidence."""

    def __init__(self, searcher: Searcher, holding: Bools) -> None:
        self._searcher = searcher
        kinds = searcher.column("kind")
        rows = map(int, np.flatnonzero(searcher.alive & holding))
        self._rows = frozenset(row for row in rows if kinds[row] in _NOTES)
        self._notes: dict[int, Card | Event | None] = {}

    def find_related(self, unit: Unit) -> Iterator[Related]:
        """Yield the notes that a turn is evidence of."""
        session, _, n = unit.id.removeprefix("session:").partition("#")
        for row in self._find_similar_rows(unit):
            note = self._read_note(row)
            if note is not None and any(
                source.session == session and source.first <= int(n) <= source.last
                for source in note.sources
            ):
                yield Related(note.id, note.title, QUOTES, 1.0)

    def _find_similar_rows(self, unit: Unit) -> Sequence[int]:
        """Return the notes that share the most words with a turn: those that quote it do."""
        shared: Counter[int] = Counter()
        for word in set(self._searcher.words.split(unit.text)):
            shared.update(self._rows.intersection(map(int, self._searcher.postings(word)[0])))
        # Reading every note of a memory for one turn would take longer than the recall.
        return sorted(shared, key=lambda row: (-shared[row], row))[:_TRIED]

    def _read_note(self, row: int) -> Card | Event | None:
        if row not in self._notes:
            note = served_note(self._searcher.files, self._searcher.path(row))
            self._notes[row] = note if isinstance(note, Card | Event) else None
        return self._notes[row]
