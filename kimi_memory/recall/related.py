"""What hits are linked with: shown beside them, or followed into the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from kimi_memory.domain.graph import Edge, Graph, name_of
from kimi_memory.domain.note import Link
from kimi_memory.domain.search_types import Hit, Related
from kimi_memory.index.searcher import Bools, Searcher, once_a_view

STARTS = 5
"""Links are followed from so many of the best hits."""
SHOWN = 3
"""So many related notes are named beside a hit."""
FOLLOWED = 10
"""So many of the strongest links of one hit are followed."""
LANE = "graph"


def with_related(
    searcher: Searcher, hits: Sequence[Hit], holding: Callable[[], Bools]
) -> list[Hit]:
    """Return the hits, each with the notes it is linked with most strongly.

    Args:
        searcher: the memory.
        hits: what was found.
        holding: returns the only rows that may be shown; most hits are linked with none.
    """
    graph = graph_of(searcher)
    near = {hit.unit.id: found for hit in hits if (found := graph.near(hit.unit.id))}
    if not near:
        return list(hits)
    rows, titles, shown = find_note_rows(searcher), searcher.column("title"), holding()
    related = {
        id: tuple(
            Related(one.id, titles[row], one.rel, one.weight, one.hops)
            for one in found
            if (row := rows.get(one.id)) is not None and shown[row]
        )[:SHOWN]
        for id, found in near.items()
    }
    return [
        replace(hit, related=related[hit.unit.id]) if related.get(hit.unit.id) else hit
        for hit in hits
    ]


def followed(
    searcher: Searcher, hits: Sequence[Hit], allowed: Bools, hops: int, rels: Collection[str] = ()
) -> list[Hit]:
    """Return the hits with the notes that the best of them lead to, best first.

    A note that is reached scores what the hit does, times the strengths of the links on
    the way, so never more than the hit. What was found by its own words keeps its score.

    Args:
        searcher: the memory.
        hits: what was found, best first.
        allowed: the rows that pass the filters.
        hops: how far to go.
        rels: only links that read so are followed; all where there are none.
    """
    graph, found = graph_of(searcher), {hit.unit.id for hit in hits}
    best: dict[str, float] = {}
    for hit in hits[:STARTS]:
        near_by = graph.near(hit.unit.id, hops)
        for near in [near for near in near_by if not rels or near.rel in rels][:FOLLOWED]:
            if near.id not in found:
                # The best way to a note, not the sum of all: many weak links are no strong one.
                best[near.id] = max(best.get(near.id, 0.0), hit.score * near.weight)
    known = find_note_rows(searcher)
    rows = {known[id]: score for id, score in best.items() if id in known and allowed[known[id]]}
    reached = [
        Hit(unit, rows[row], "", {LANE: rows[row]}, (LANE,))
        for row, unit in searcher.units(rows).items()
    ]
    return sorted([*hits, *reached], key=lambda hit: (-hit.score, hit.unit.id))


@once_a_view
def graph_of(searcher: Searcher) -> Graph:
    """Return the graph over all notes, by ids and by the names that wikilinks use."""
    return Graph.from_edges(_yield_edges(searcher))


@once_a_view
def find_note_rows(searcher: Searcher) -> dict[str, int]:
    """Return the row of every card and event; only these are linked."""
    notes = searcher.alive & searcher.column("kind").among(("card", "event"))
    ids = searcher.column("id").all()
    return {ids[row]: int(row) for row in np.flatnonzero(notes)}


def _yield_edges(searcher: Searcher) -> Iterator[Edge]:
    rows, links = find_note_rows(searcher), searcher.column("links").all()
    scopes = searcher.column("scope").all()
    names: dict[str, dict[str, str]] = {}
    for id, row in sorted(rows.items()):
        whose = scopes[row]
        for link in map(Link.parse, links[row]):
            if link.to in rows:
                # What leads from one scope into another would tell of what may not be seen.
                if scopes[rows[link.to]] == whose:
                    yield Edge(id, link.to, link.rel, link.weight, link.reason)
                continue
            # To make a name of every title is most of the work, and seldom needed.
            if whose not in names:
                own = {id: row for id, row in rows.items() if scopes[row] == whose}
                names[whose] = _ids_by_name(searcher, own)
            if link.to in names[whose]:
                to = names[whose][link.to]
                yield Edge(id, to, link.rel, link.weight, link.reason, "wikilink")


def _ids_by_name(searcher: Searcher, rows: dict[str, int]) -> dict[str, str]:
    """Return the id behind each file name, title and key; the first path has a shared name."""
    ordered = sorted(rows.items(), key=lambda item: searcher.path(item[1]))
    found: dict[str, str] = {}
    for id, row in ordered:
        found.setdefault(name_of(PurePosixPath(searcher.path(row)).name), id)
    for column in (searcher.column("title").all(), searcher.column("key").all()):
        for id, row in ordered:
            found.setdefault(name_of(column[row]), id)
    return found
