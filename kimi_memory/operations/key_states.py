"""What was so under the key of a card: its states, oldest first."""

from __future__ import annotations

from collections.abc import Callable

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Card, Note, Status
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.recall.browse import ListQuery


def list_states(
    memory: Memory, note: Note, narrowed: Callable[[Query], Query] = lambda query: query
) -> list[Unit]:
    """Return what was so under the key of a card, oldest first; nothing where it is alone.

    Args:
        memory: an open memory.
        note: a card; other notes have no key.
        narrowed: makes a query one of what the caller may see.
    """
    if not isinstance(note, Card) or not note.key:
        return []
    filters = Query(text="", kind=("card",), key=(note.key,), status=tuple(Status))
    found = memory.browse(ListQuery(filters=narrowed(filters), sort="oldest", facets=()))
    same = [unit for unit in found.units if unit.key == note.key and unit.scope == note.scope]
    same = [unit for unit in same if unit.project == note.project or unit.id in note.supersedes]
    if len(same) < 2:
        return []
    return sorted(same, key=lambda unit: (str(unit.valid_from or unit.at), unit.id))
