"""Since when each copy of a memory has what a line says, and what the others say instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kimi_memory.domain.past import BlameLine, CopyKnew
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.past.blame import Blame
from kimi_memory.past.copies import list_descendants
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader


def add_copies(
    reader: PastReader, blame: Blame, lines: Iterable[BlameLine], at: Point | None
) -> Iterator[BlameLine]:
    """Yield lines with the copies that have them, and those that have not, as far as is known here.

    Args:
        reader: of the memory.
        blame: what found the lines.
        lines: what was blamed.
        at: the point it was blamed at; the last commit if None.
    """
    graph, copies = reader.points.graph(), reader.points.copies
    until = graph.ancestors(at.commit) if at else set(range(len(graph.rows)))
    known = [
        one._replace(places=[place for place in one.places if place in until])
        for one in copies.list_known(graph)
    ]
    for line in lines:
        if line.cause is None or line.cause.commit not in graph.index:
            yield line
            continue
        having, found = list_descendants(graph, line.cause.commit), []
        for copy, places in known:
            # What its own commits descend from, it had then; later it may have had more.
            has = next((place for place in places if place in having), None)
            if not places:
                continue
            commit = graph.rows[places[-1] if has is None else has].commit
            point = reader.points.find_by_commit(commit)
            says = "" if has is not None else _find_saying(reader, blame, line, point)
            about = (has is not None, commit, point.version, point.known)
            found.append(CopyKnew(copy, copies.name(copy), *about, says))
        yield replace(line, copies=tuple(found))


def _find_saying(reader: PastReader, blame: Blame, line: BlameLine, point: Point) -> str:
    """Return what a note, or the notes of its key, said at a point; empty for nothing."""
    if not line.note:
        return ""
    states = reader.table().states_of(line.note)
    what = (states[-1].key if states else "") or line.note
    try:
        return " | ".join(one.text for one in blame.find(what, line.field, point))
    except (NotFoundError, UsageError):
        return ""
