"""Recall: a question in, the units that answer it out, each with its reasons."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from kimi_memory.config import RecallTable
from kimi_memory.host import Host
from kimi_memory.index.index import Index
from kimi_memory.model.engine import Embedding
from kimi_memory.model.unit import Hit, Query, Unit
from kimi_memory.text.snippet import snippet

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Searcher
    from kimi_memory.recall.ranking import Ranked

SUMMANDS = frozenset({"turn", "window", "session", "vector"})
"""Parts of a hit that add up; all other parts multiply."""
CANDIDATES = 50
"""At least so many of the best rows are weighed by the plugins."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query found, and how."""

    hits: tuple[Hit, ...]
    lanes: tuple[str, ...] = ()
    """Lanes that took part."""
    notes: tuple[str, ...] = ()
    """What a person should know: a lane that is off, an index that is not used."""
    took_ms: float = 0.0


def total(parts: Mapping[str, float]) -> float:
    """Return the score that the parts of a hit explain."""
    score = sum(value for name, value in parts.items() if name in SUMMANDS)
    return score * math.prod(value for name, value in parts.items() if name not in SUMMANDS)


class Recall:
    """Searches one memory.

    Args:
        index: the index of the memory.
        host: its plugins.
        settings: limits and weights.
        clock: tells the time that relative dates count from.
    """

    def __init__(
        self, index: Index, host: Host, settings: RecallTable, clock: Callable[[], datetime]
    ) -> None:
        self._index, self._host, self._settings, self._clock = index, host, settings, clock

    def searcher(self) -> Searcher:
        """Return a view of the memory as it is now."""
        return self._index.searcher()

    def search(self, query: Query) -> Answer:
        """Return the best units for a question, best first; ties stand by id."""
        from kimi_memory.recall.ranking import Probe, candidates

        began = time.perf_counter()
        now, embedding = self._clock(), self._embed(query)
        with self._index.guard:
            searcher = self._index.searcher()
            words = self._index.words.of_query(query, now)
            vector, note = _vector(embedding, searcher)
            probe = None if vector is None else Probe(vector, self._settings.vector_weight)
            ranked = candidates(searcher, query, words, probe, room=self._room(query))
            hits = self._weigh(searcher, ranked, query, now)
            shown = tuple(self._shown(hit, words) for hit in hits[: query.limit])
            notes = (*searcher.notes, *((note,) if note else ()))
            took = (time.perf_counter() - began) * 1000
            return Answer(shown, ranked.lanes, notes, took)

    def _room(self, query: Query) -> int:
        return max(CANDIDATES, 3 * query.limit)

    def _embed(self, query: Query) -> Embedding | None:
        if self._settings.vector_weight <= 0:
            return None
        found: Embedding | None = self._host.answer(
            "embed_texts", texts=[query.text], purpose="query"
        )
        return found

    def _weigh(self, searcher: Searcher, ranked: Ranked, query: Query, now: datetime) -> list[Hit]:
        units = searcher.units(ranked.rows)
        hits = []
        for row, parts, lanes in zip(ranked.rows, ranked.parts, ranked.lanes_by_row, strict=True):
            if row in units:
                whole = {**parts, **self._factors(units[row], query, now)}
                hits.append(Hit(units[row], total(whole), "", whole, lanes))
        # Factors may lift a score above 1; scores of one answer share one scale.
        best = max((hit.score for hit in hits), default=0.0)
        if best > 1.0:
            hits = [_scaled(hit, 1.0 / best) for hit in hits]
        floor = max(query.min_score, self._settings.min_score)
        kept = [hit for hit in hits if hit.score > 0 and hit.score >= floor]
        return sorted(kept, key=lambda hit: (-hit.score, hit.unit.id))

    def _factors(self, unit: Unit, query: Query, now: datetime) -> dict[str, float]:
        factors: dict[str, float] = {}
        for found in self._host.gather("weigh_hit", unit=unit, query=query, now=now):
            factors |= {name: max(0.0, value) for name, value in found.items()}
        return {name: value for name, value in factors.items() if value != 1.0}

    def _shown(self, hit: Hit, words: Sequence[str]) -> Hit:
        text, _, _ = snippet(hit.unit.text, words, self._settings.snippet_chars)
        return Hit(hit.unit, hit.score, text, hit.parts, hit.lanes)


def _vector(found: Embedding | None, searcher: Searcher) -> tuple[Sequence[float] | None, str]:
    """Return the vector to search with, and what a person should know when there is none."""
    if found is None:
        return None, ""
    lane = searcher.lane
    if lane is None:
        return None, "There are no vectors yet: run 'kimi-memory index'."
    if lane.model != found.model:
        why = f"The vectors were made by {lane.model}, the model is now {found.model}"
        return None, f"{why}: run 'kimi-memory index'."
    return found.vectors[0], ""


def _scaled(hit: Hit, scale: float) -> Hit:
    parts = {**hit.parts, "scale": scale}
    return Hit(hit.unit, min(1.0, total(parts)), hit.snippet, parts, hit.lanes)
