"""The page of a neighbourhood: a note, what it hangs together with, and a table of the same."""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import LinkRel, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.recall.browse import BANDS, ListQuery
from kimi_memory.recall.vicinity import HOPS, Around, Vicinity, find_vicinity
from kimi_memory.web.drawing import net
from kimi_memory.web.page_types import Asked, View

RELS = tuple(str(rel) for rel in LinkRel)
STARTS = 20
"""So many notes are offered to begin with."""


def show_graph(memory: Memory, asked: Asked) -> View:
    """Show what a note hangs together with; without one, notes to begin with."""
    id, hops = asked.get("id"), min(max(asked.number("hops", 2), 1), HOPS)
    chosen = {"rels": asked.all("rel"), "bands": asked.all("band")}
    found = _find(memory, asked, id, hops, chosen) if id else Vicinity((), (), 0)
    starts = () if found.spots else _starts(memory, asked)
    values = {
        "id": id,
        "hops": hops,
        "choices": tuple(range(1, HOPS + 1)),
        "rels": RELS,
        "bands": BANDS,
        "chosen_rels": chosen["rels"] or RELS,
        "chosen_bands": chosen["bands"] or BANDS,
        "found": found,
        "net": net(found),
        "starts": starts,
    }
    return View("graph", "graph", values)


def _find(
    memory: Memory, asked: Asked, id: str, hops: int, chosen: Mapping[str, tuple[str, ...]]
) -> Vicinity:
    there = Query(text="", status=tuple(one for one in Status if one is not Status.ARCHIVED))
    around = Around(
        id=id,
        filters=asked.caller.space.narrowed(there),
        hops=hops,
        rels=chosen["rels"],
        bands=chosen["bands"],
    )
    with memory.index.guard:
        return find_vicinity(memory.index.searcher(), around, memory.now())


def _starts(memory: Memory, asked: Asked) -> tuple[object, ...]:
    filters = asked.caller.space.narrowed(Query(text="", kind=("card",)))
    query = ListQuery(filters=filters, sort="importance", limit=STARTS, facets=())
    return memory.browse(query).units
