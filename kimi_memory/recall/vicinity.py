"""The neighbourhood of one note in the graph: the strongest ways first, laid out on a plane."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np

from kimi_memory.domain.graph import Edge, seen_from
from kimi_memory.domain.note import LinkRel
from kimi_memory.domain.search_types import COLD_BELOW, Hit, Query, Unit
from kimi_memory.index.columns import Floats
from kimi_memory.index.searcher import Searcher, once_a_view
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.recall.browse import BANDS, HOT_FROM
from kimi_memory.recall.filters import allowed, redact_hits, said_at
from kimi_memory.recall.related import find_note_rows, graph_of

MOST = 120
"""So many notes can be read on one picture."""
# Farther away everything is connected with everything.
HOPS = 3
SAME_KEY = "same key"
SAME_PROJECT = "same project"
"""Reasons of links that no note states: what is about the same stands in an order of time."""
_WEIGHTS = {SAME_KEY: 0.8, SAME_PROJECT: 0.3}
_WALKED = 2000
"""So many links are followed at most: a note that all others link to has more than can be shown."""
# Enough to come to rest; each round compares all pairs of notes.
_ROUNDS = 90


class Spot(NamedTuple):
    """A note on the picture; its place is between 0 and 1 in both directions."""

    unit: Unit
    band: str
    hops: int
    x: float
    y: float


class Tie(NamedTuple):
    """A link between two notes of the picture."""

    source: Unit
    target: Unit
    rel: str
    weight: float
    reason: str
    suggested: bool
    derived: str


@dataclass(frozen=True, slots=True)
class Vicinity:
    """A note, what is near it, and how it all hangs together."""

    spots: tuple[Spot, ...]
    """The note itself first, then the others, strongest first."""
    ties: tuple[Tie, ...]
    left: int
    """How many more notes could be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is asked about the surroundings of a note."""

    id: str
    """Of a card or an event."""
    filters: Query
    """What the caller may see; its text and its limit do not count."""
    hops: int = 1
    """So many links away at most."""
    rels: tuple[str, ...] = ()
    """Only links of these relations; all if empty."""
    bands: tuple[str, ...] = ()
    """Only notes that are as warm; all if empty. The note itself is always there."""
    most: int = MOST


def find_vicinity(searcher: Searcher, around: Around, now: datetime) -> Vicinity:
    """Return the neighbourhood of a note; nothing where there is none that may be seen.

    Args:
        searcher: a view of the memory; its guard is held by the caller.
        around: which, and how far.
        now: the present moment; what was forgotten until then is not shown.
    """
    rows = find_note_rows(searcher)
    seen = allowed(searcher, around.filters)
    rows = {id: row for id, row in rows.items() if seen.item(row)}
    if around.id not in rows:
        return Vicinity((), (), 0)
    hops, rels = min(max(around.hops, 1), HOPS), frozenset(around.rels)
    reached = _walk(searcher, rows, around.id, hops, rels)
    warmth, bands = searcher.column("temperature"), around.bands
    shown = [
        id for id in reached if id == around.id or not bands or _band(warmth[rows[id]]) in bands
    ]
    found = searcher.units([rows[id] for id in shown[: around.most]]).values()
    # What the caller may not see must not show as a spot either.
    hits = redact_hits(searcher.files, [Hit(unit, 0, "") for unit in found], around.filters, now)
    units = {hit.unit.id: hit.unit for hit in hits}
    kept = {id: number for number, id in enumerate(id for id in shown if id in units)}
    edges = [edge for edge in _edges_among(searcher, rows, kept) if not rels or edge.rel in rels]
    places = lay_out(
        len(kept),
        [(kept[edge.source], kept[edge.target]) for edge in edges],
        [edge.strength for edge in edges],
        # Of the note alone, so that the picture stays as it is when the page is loaded again.
        crc32(around.id.encode()),
    )
    spots = (
        Spot(units[id], _band(units[id].temperature), reached[id], *map(float, place))
        for id, place in zip(kept, places, strict=True)
    )
    ties = (_make_tie(edge, units) for edge in edges)
    return Vicinity(tuple(spots), tuple(ties), max(0, len(shown) - around.most))


def _make_tie(edge: Edge, units: dict[str, Unit]) -> Tie:
    rel = seen_from(edge.rel, forwards=True)
    return Tie(
        units[edge.source], units[edge.target], rel, edge.weight, edge.reason, edge.suggested,
        edge.derived,
    )  # fmt: skip


def _band(temperature: float) -> str:
    return BANDS[0 if temperature >= HOT_FROM else 1 if temperature >= COLD_BELOW else 2]


def _walk(
    searcher: Searcher, rows: dict[str, int], id: str, hops: int, rels: frozenset[str]
) -> dict[str, int]:
    """Return what can be reached, strongest first, and how many links away each is."""
    queue: list[tuple[float, int, str]] = [(-1.0, 0, id)]
    found: dict[str, int] = {}
    followed = 0
    while queue and followed < _WALKED:
        weight, away, at = heappop(queue)
        if at in found:
            continue
        found[at] = away
        if away == hops:
            continue
        for edge in _touching(searcher, rows, at):
            followed += 1
            other = edge.target if edge.source == at else edge.source
            wanted = edge.strength > 0 and (not rels or edge.rel in rels)
            if wanted and other in rows and other not in found:
                heappush(queue, (weight * edge.strength, away + 1, other))
    return found


def _edges_among(
    searcher: Searcher, rows: dict[str, int], among: Collection[str]
) -> Iterator[Edge]:
    found: dict[tuple[str, str, LinkRel], Edge] = {}
    for id in among:
        for edge in _touching(searcher, rows, id):
            if edge.source in among and edge.target in among and edge.weight > 0:
                found.setdefault((edge.source, edge.target, edge.rel), edge)
    yield from found.values()


def _touching(searcher: Searcher, rows: dict[str, int], id: str) -> Iterator[Edge]:
    """Yield the links of a note: those that are stated, and those that time makes."""
    yield from graph_of(searcher).touching(id)
    ids = searcher.column("id")
    for reason, groups in _time_orders(searcher):
        for old, new in groups.get(rows[id], ()):
            yield Edge(ids[old], ids[new], LinkRel.TEMPORAL_NEXT, _WEIGHTS[reason], reason, "time")


Steps = dict[int, list[tuple[int, int]]]


@once_a_view
def _time_orders(searcher: Searcher) -> list[tuple[str, Steps]]:
    """Return by reason and row the steps from an older note to the next that is about the same."""
    rows = sorted(find_note_rows(searcher).values())
    keys, projects = searcher.column("key").all(), searcher.column("project").all()
    scopes, types = searcher.column("scope").all(), searcher.column("type").all()
    same_key = _group(((keys[row], projects[row], scopes[row]), row) for row in rows if keys[row])
    decided = (row for row in rows if types[row] == "decision" and projects[row])
    in_project = _group((("", projects[row], scopes[row]), row) for row in decided)
    return [(SAME_KEY, _steps(searcher, same_key)), (SAME_PROJECT, _steps(searcher, in_project))]


def _group(rows: Iterable[tuple[tuple[str, str, str], int]]) -> list[list[int]]:
    found: dict[tuple[str, str, str], list[int]] = {}
    for about, row in rows:
        found.setdefault(about, []).append(row)
    return [group for group in found.values() if len(group) > 1]


def _steps(searcher: Searcher, groups: Sequence[list[int]]) -> Steps:
    began = said_at(searcher)
    found: Steps = {}
    for group in groups:
        for step in pairwise(sorted(group, key=lambda row: (began.item(row), row))):
            for end in step:
                found.setdefault(end, []).append(step)
    return found


def lay_out(
    count: int, pairs: Sequence[tuple[int, int]], weights: Sequence[float], seed: int
) -> Floats:
    """Return a place for each of some points: linked ones near, others apart, the first central.

    The same points and the same seed give the same picture.
    """
    if count < 2:
        return np.full((count, 2), 0.5)
    places = np.random.default_rng(seed).normal(scale=0.3, size=(count, 2))
    places[0] = 0.0
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    pull = np.asarray(weights, dtype=np.float64)[:, None] * 0.6 + 0.4
    room = 1.6 / np.sqrt(count)
    # Forces as of Fruchterman and Reingold; shorter and shorter steps bring it to rest.
    for heat in np.linspace(0.18, 0.005, _ROUNDS):
        apart = places[:, None, :] - places[None, :, :]
        far = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        push = (apart * (room**2 / far**2)[:, :, None]).sum(axis=1)
        # A weak pull inwards, so that what hangs together with nothing does not drift away.
        push -= places * 0.35
        if len(ends):
            along = places[ends[:, 0]] - places[ends[:, 1]]
            strain = along * (np.sqrt((along**2).sum(axis=1))[:, None] / room) * pull
            np.subtract.at(push, ends[:, 0], strain)
            np.add.at(push, ends[:, 1], strain)
        length = np.maximum(np.sqrt((push**2).sum(axis=1)), 1e-9)
        places += push / length[:, None] * np.minimum(length, heat)[:, None]
        places[0] = 0.0
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-6), dtype=np.float64)
