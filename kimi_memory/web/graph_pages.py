"""The page of a neighbourhood: a note, what it hangs together with, and a table of the same."""

from __future__ import annotations

from collections.abc import Sequence

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
    rels, bands, found = asked.all("rel"), asked.all("band"), Vicinity((), (), 0)
    if id:
        there = Query(text="", status=tuple(one for one in Status if one is not Status.ARCHIVED))
        filters = asked.caller.space.narrowed(there)
        around = Around(id=id, filters=filters, hops=hops, rels=rels, bands=bands)
        with memory.index.guard:
            found = find_vicinity(memory.index.searcher(), around, memory.now())
    starts: Sequence[object] = ()
    if not found.spots:
        cards = asked.caller.space.narrowed(Query(text="", kind=("card",)))
        query = ListQuery(filters=cards, sort="importance", limit=STARTS, facets=())
        starts = memory.browse(query).units
    values = {
        "id": id,
        "hops": hops,
        "choices": tuple(range(1, HOPS + 1)),
        "rels": RELS,
        "bands": BANDS,
        "chosen_rels": rels or RELS,
        "chosen_bands": bands or BANDS,
        "found": found,
        "net": net(found),
        "starts": starts,
    }
    return View("graph", "graph", values)
