"""Recall: a question in, the units that answer it out, and receipts of what was shown."""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from kimi_memory.config import RecallTable
from kimi_memory.domain.engine import Embedding
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.job import Actor
from kimi_memory.domain.search_types import Answer, Hit, Query, Unit
from kimi_memory.domain.session import visible
from kimi_memory.domain.tombstone import asked
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.formats.jsonl import seal
from kimi_memory.hooks.host import Host
from kimi_memory.index.searcher import Searcher, once_a_view
from kimi_memory.index.units import Words
from kimi_memory.nlp.basic.sentences import snippet
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.nlp.rules.relations import relations_asked
from kimi_memory.recall.browse import Listing, ListQuery, browse
from kimi_memory.recall.filters import (
    allowed,
    as_then,
    holding,
    on_clocks,
    redact_hits,
    restrict_to_caller,
    visible_rows,
)
from kimi_memory.recall.ranking import VECTOR_SHARE, Ranked, candidates, lane_weights, probe_of
from kimi_memory.recall.related import followed, with_related
from kimi_memory.recall.rerank import ROWS, reranked
from kimi_memory.recall.start_shelf import Front, FrontShelf
from kimi_memory.store.prompt_blocks import PromptBlock, keep_block
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.search_types import Context
    from kimi_memory.domain.session import Json
    from kimi_memory.store.notes.known import Whose
    from kimi_memory.store.store import Store

PATH = "short-term/recalls.jsonl"
PAUSE_SECONDS = 0.5
"""How long a receipt may wait in a long-lived process."""


class _Shown(NamedTuple):
    at: datetime
    query: str
    hits: tuple[str, ...]
    scores: tuple[float, ...] | None
    actor: Actor
    looking: bool = False
    block: PromptBlock | None = None


class Receipts:
    """Appends one line an answer to ``short-term/recalls.jsonl``.

    Nobody waits for a receipt and none is promised: it is not synced, in a long-lived
    process it follows the answer within `pause_seconds`, in a short one (0) it is written
    at once. It holds no word of the question. Git ignores the file: it is of this copy alone.

    Args:
        store: where to.
        clock: tells the moment.
        pause_seconds: longest time a receipt may be behind.
        prompt_days: so long the blocks stay that were made for prompts; with 0 none is kept.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        pause_seconds: float = 0.0,
        prompt_days: int = 0,
    ) -> None:
        self._clock, self._pause = clock, pause_seconds
        self._due = _Due(store, prompt_days)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        # For who never closes a memory: this runs at the end of the interpreter too.
        self._at_exit = weakref.finalize(self, self._due.write)

    def add(
        self,
        query: str,
        ids: Sequence[str] | Mapping[str, float],
        actor: Actor,
        *,
        looking: bool = False,
    ) -> None:
        """Note what was shown; a memory that cannot be written can still be read.

        Args:
            query: what was asked.
            ids: what was shown, with the score of each where there is one.
            actor: to whom.
            looking: a person looked around, which is no use of what they saw.
        """
        scores = tuple(ids.values()) if isinstance(ids, Mapping) else None
        self._add(_Shown(self._clock(), query, tuple(ids), scores, actor, looking))

    def add_block(
        self, query: str, built: Context, actor: Actor, purpose: str, session: str
    ) -> None:
        """Note a block that was made for a prompt.

        Args:
            query: what was asked.
            built: the block, as it was given.
            actor: to whom.
            purpose: what it was made for: a start, a task, the next turn.
            session: the one it was made for, if any.
        """
        at, to = self._clock(), actor.name
        id = new_id("receipt", at)
        block = PromptBlock(id, at, to, purpose, session, built.lines, built.text)
        self._add(_Shown(at, query, built.lines, None, actor, block=block if built.text else None))

    def _add(self, shown: _Shown) -> None:
        self._due.shown.append(shown)
        if not self._pause:
            self._due.write()
            return
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(self._pause, self._catch_up)
                # A program must be able to end while a receipt waits; the finalizer above writes
                # it.
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Write what is due; nothing follows after this."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
        self._due.write()
        self._at_exit.detach()

    def _catch_up(self) -> None:
        with self._lock:
            self._timer = None
        self._due.write()


class _Due:
    """Receipts that are not written yet."""

    def __init__(self, store: Store, prompt_days: int) -> None:
        self._store, self._keyed, self._days = store, store.journal.keyed, prompt_days
        self._lock = threading.Lock()
        self.shown: deque[_Shown] = deque()

    def write(self) -> None:
        """Write what is due, in order; what the disk refuses is forgotten."""
        with self._lock:
            # As many as there are now: what is added meanwhile comes next time.
            due = [self.shown.popleft() for _ in range(len(self.shown))]
            for one in due:
                if one.block and self._days > 0:
                    keep_block(self._store, one.block, self._days)
            for actor, shown in groupby(due, lambda one: one.actor):
                with suppress(KimiMemoryError):
                    # A receipt that a power cut takes is no loss; a sync for each would slow every
                    # recall.
                    self._store.append(PATH, [*map(self._encode_receipt, shown)], actor, sync=False)

    def _encode_receipt(self, shown: _Shown) -> bytes:
        at = shown.at.astimezone(UTC).isoformat(timespec="seconds")
        record: dict[str, Json] = {
            "id": shown.block.id if shown.block else new_id("receipt", shown.at),
            "at": at,
            "asked": asked(shown.query, self._keyed),
            "hits": list(shown.hits),
        }
        if shown.scores is not None:
            record["scores"] = [round(score, 3) for score in shown.scores]
        if shown.looking:
            record["looking"] = True
        return seal({**record, "to": shown.actor.name})


SUMMANDS = frozenset({"turn", "window", "session", "day", "answer", "vector", "marked", "graph"})
"""Parts of a hit that add up; all other parts multiply."""
HOPS = 2
"""Links are followed no further, whatever is asked."""
MOST_WEIGHT = 10.0
"""Of the vector lane; more would be vectors alone."""
MOST_LOST = 0.9
"""The largest part of its score that age may take from a hit."""
_AGEING = frozenset({"card", "event"})
"""What was learned later is more likely so; of turns that was measured not to hold."""
_FUSIONS: tuple[Literal["score", "70/30", "rrf"], ...] = ("score", "70/30", "rrf")
CANDIDATES = 50
"""At least so many of the best rows are weighed by the plugins."""


def total(parts: Mapping[str, float]) -> float:
    """Return the score that the parts of a hit explain."""
    score, factor = 0.0, 1.0
    for name, value in parts.items():
        if name in SUMMANDS:
            score += value
        else:
            factor *= value
    return score * factor


class Searchable(Protocol):
    """What recall needs of an index."""

    @property
    def words(self) -> Words:
        """Splits texts into the words they are found by."""

    @property
    def guard(self) -> AbstractContextManager[object]:
        """Held while the engines are read."""

    def searcher(self) -> Searcher:
        """Return a view of the files."""


class Recall:
    """Searches one memory."""

    def __init__(
        self, index: Searchable, host: Host, settings: RecallTable, clock: Callable[[], datetime]
    ) -> None:
        self._index, self._host, self._settings, self._clock = index, host, settings, clock

    @property
    def words(self) -> Words:
        """Splits texts into the words they are found by."""
        return self._index.words

    @property
    def min_relevance(self) -> float:
        """How likely the memory must have to do with a prompt to be shown unasked."""
        return self._settings.min_relevance

    @property
    def limit(self) -> int:
        """How many hits are shown where a question does not say."""
        return self._settings.limit

    @property
    def context_hits(self) -> int:
        """Most lines that a question brings into a block; 0 for as many as fit."""
        return self._settings.context_hits

    def searcher(self) -> Searcher:
        """Return a view of the memory as it is now."""
        return self._index.searcher()

    def ids(self, query: Query) -> frozenset[str]:
        """Return the ids of all units that pass the filters of a query, and their paths."""
        with self._index.guard:
            searcher = self._index.searcher()
            ids = searcher.column("id")
            rows = allowed(searcher, query).nonzero()[0].tolist()
            return frozenset(name for row in rows for name in (ids[row], searcher.path(row)))

    def front_shelf(self, store: Store, whose: Whose) -> FrontShelf:
        """Return the notes that a start block is made of, without a look at the others."""
        with self._index.guard:
            searcher = self._index.searcher()
            shelf = FrontShelf(store, searcher, Front.from_index(searcher, whose))
            shelf.entries()  # From here on, only files are asked.
            return shelf

    def browse(self, query: ListQuery) -> Listing:
        """Return one page of what passes some filters, with its total and counts by field."""
        with self._index.guard:
            return browse(self._index.searcher(), query, self._clock())

    def search(self, query: Query) -> Answer:
        """Return the best units for a question, best first; ties stand by id."""
        began = time.perf_counter()
        settings = _override_settings(self._settings, query)
        query = query if query.turn_days else replace(query, turn_days=settings.turn_days)
        share = VECTOR_SHARE if query.vector_weight is None else query.vector_weight
        # Outside of the guard: a server is asked here, and other threads go on meanwhile.
        now, embedding = self._query_moment(query), self._embed_query(query, settings)
        words = self._index.words.of_query(query, now)

        with self._index.guard:
            searcher = self._index.searcher()
            view = restrict_to_caller(searcher, query)
            probe, note = probe_of(embedding, view, settings, share)
            room = max(CANDIDATES, self._settings.candidates * query.limit)
            ranked = candidates(view, query, words, probe, room=room, now=now)
            hits = self._find_hits(view, ranked, query, now)
        # A server may take its time: nobody else waits for it.
        offered = self._host.offers("rerank")
        hits, said = reranked(self._host, query.text, hits) if offered else (hits, "")
        with self._index.guard:
            best = _attach_related(view, hits[: query.limit], query)
        zone = self._clock().tzinfo or UTC
        shown = tuple(self._prepare_hit(hit, words, zone) for hit in best)
        notes = (*searcher.notes, *(one for one in (note, said) if one))
        took = (time.perf_counter() - began) * 1000
        return Answer(shown, ranked.lanes, notes, took, lane_weights(probe))

    def _embed_query(self, query: Query, settings: RecallTable) -> Embedding | None:
        if settings.vector_weight <= 0:
            return None
        found: Embedding | None = self._host.answer(
            "embed_texts", texts=[query.text], purpose="query"
        )
        return found

    def _find_hits(
        self, searcher: Searcher, ranked: Ranked, query: Query, now: datetime
    ) -> list[Hit]:
        """Return the hits; only files that may be shown are checked for changes.

        To ask those of all candidates takes as long as to weigh them.
        """
        # First as the index has them; asked again below only if one that would be shown has
        # changed.
        units = searcher.units(ranked.rows, sure=False)
        hits = self._link_and_filter_hits(
            searcher, self._score_units(units, ranked, query, now), query, now
        )
        shown = max(query.limit, ROWS if self._host.offers("rerank") else 0)
        near = {hit.unit.path for hit in hits[:shown]}
        # Rare; then all are weighed again, by what the files say now.
        if searcher.moved(row for row, unit in units.items() if unit.path in near):
            units = searcher.units(ranked.rows)
            hits = self._link_and_filter_hits(
                searcher, self._score_units(units, ranked, query, now), query, now
            )
        return hits

    def _link_and_filter_hits(
        self, searcher: Searcher, hits: list[Hit], query: Query, now: datetime
    ) -> list[Hit]:
        """Return the hits and what they lead to, but for what recall keeps to itself."""
        heard = redact_hits(searcher.files, self._follow_links(searcher, hits, query), query, now)
        # A file that changed since it was indexed may have become private.
        return [hit for hit in heard if visible(hit.unit.scope, query.within)]

    def _score_units(
        self, units: Mapping[int, Unit], ranked: Ranked, query: Query, now: datetime
    ) -> list[Hit]:
        factors = self._compute_factors(units, query, now)
        ranks = zip(ranked.rows, ranked.parts, ranked.lanes_by_row, strict=True)
        rows = [(row, parts | factors[row], lanes) for row, parts, lanes in ranks if row in units]
        # Factors may lift a score above 1; scores of one answer share one scale, and what
        # the memory can say to the question at all makes those of several comparable.
        best = max((total(parts) for _, parts, _ in rows), default=0.0)
        shared = {"scale": 1.0 / best} if best > 1.0 else {}
        shared |= {"cover": ranked.cover} if ranked.cover < 1.0 else {}
        hits = [_make_hit(units[row], parts | shared, lanes) for row, parts, lanes in rows]
        floor = max(query.min_score, self._settings.min_score)
        kept = [hit for hit in hits if hit.score > 0 and hit.score >= floor]
        # Ties by id: the order of rows changes with every update of the index, ids do not.
        return sorted(kept, key=lambda hit: (-hit.score, hit.unit.id))

    def _follow_links(self, searcher: Searcher, hits: list[Hit], query: Query) -> list[Hit]:
        """Follow links from the best hits: all where that is asked for, else those of the question.

        "Why did it stop?" asks for causes; most questions ask for no link.
        """
        hops = self._settings.hops if query.hops is None else query.hops
        if (hops <= 0 and query.hops is not None) or not hits or not _any_links(searcher):
            return hits
        rels = relations_asked(query.text) if hops <= 0 else frozenset[str]()
        if hops <= 0 and not rels:
            return hits
        floor, hops = max(query.min_score, self._settings.min_score), min(max(hops, 1), HOPS)
        reached = followed(searcher, hits, allowed(searcher, query), hops, rels)
        return [hit for hit in reached if hit.score >= floor]

    def _compute_factors(
        self, units: Mapping[int, Unit], query: Query, now: datetime
    ) -> dict[int, dict[str, float]]:
        # What held at the moment that is asked for is weighed as what is live.
        weighed = units.values() if query.valid_at is None else map(as_then, units.values())
        calls = [{"unit": unit, "query": query, "now": now} for unit in weighed]
        if not calls:
            return {}
        told = self._host.gather_each("weigh_hit", calls)
        ages = (self._recency_factor(unit, now) for unit in units.values())
        weights = zip(units, told, ages, strict=True)
        return {row: _merge_factors((*found, age)) for row, found, age in weights}

    def _recency_factor(self, unit: Unit, now: datetime) -> Mapping[str, float]:
        part = min(MOST_LOST, self._settings.recency)
        at = unit.valid_from or unit.at
        if part <= 0 or at is None or unit.kind not in _AGEING:
            return {}
        days = max(0, (now - at).days)  # whole ones, so that scores stand still for a day
        life = max(0.01, self._settings.recency_days)
        # From 1 down to what is left of it: age alone never removes a hit.
        return {"recency": 1 - part * (1 - math.exp(-days / life))}

    def _prepare_hit(self, hit: Hit, words: Sequence[str], zone: Zone) -> Hit:
        text, _, _ = snippet(hit.unit.text, words, self._settings.snippet_chars)
        return replace(hit, unit=on_clocks(hit.unit, zone), snippet=text)

    def _query_moment(self, query: Query) -> datetime:
        """Return what relative dates count from, on the clocks of the person."""
        now = self._clock()
        return in_zone(query.valid_at, now.tzinfo or UTC) if query.valid_at else now


def _override_settings(settings: RecallTable, query: Query) -> RecallTable:
    """Return the settings with what a query chooses for itself."""
    weight, fusion = query.vector_weight, query.fusion
    if weight is not None:
        if not 0 <= weight <= MOST_WEIGHT:
            raise UsageError(f"A vector weight of {weight:g} is out of range. Give 0 to 10.")
        settings = settings._replace(vector_weight=weight)
    if fusion:
        chosen = next((one for one in _FUSIONS if one == fusion), None)
        if chosen is None:
            raise UsageError(f"{fusion!r} joins no lanes. Use one of {', '.join(_FUSIONS)}.")
        settings = settings._replace(fusion=chosen)
    if settings.fusion == "70/30" and weight is not None and weight > 1:
        raise UsageError(f"With 70/30 the weight is a share: {weight:g} is not. Give 0 to 1.")
    return settings


def _merge_factors(told: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the factors that change something, of several plugins."""
    # A plugin may silence a hit, not turn the order of all round.
    factors = {name: max(0.0, value) for found in told for name, value in found.items()}
    return {name: value for name, value in factors.items() if value != 1.0}


@once_a_view
def _any_links(searcher: Searcher) -> bool:
    """Whether any unit states a link; without one nothing of the graph is loaded."""
    return bool(searcher.column("links").where(bool).any())


def _attach_related(searcher: Searcher, hits: list[Hit], query: Query) -> list[Hit]:
    """Return the hits, each with what it is linked with."""
    if not hits or not _any_links(searcher):
        return hits
    asked = Query(text="", valid_at=query.valid_at, within=query.within)
    return with_related(
        searcher, hits, lambda: holding(searcher, asked) & visible_rows(searcher, asked)
    )


def _make_hit(unit: Unit, parts: dict[str, float], lanes: tuple[str, ...]) -> Hit:
    return Hit(unit, min(1.0, total(parts)), "", parts, lanes)
