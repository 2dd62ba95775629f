"""What pages ask of a memory while they are rendered: names of ids, whose word a note is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.search_types import Unit
from kimi_memory.errors import KimiMemoryError
from kimi_memory.operations.id_names import split_ids, title_of
from kimi_memory.recall.request import Request
from kimi_memory.recall.served import are_several, find_person
from kimi_memory.web.page_types import Asked

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Searcher

_MOST_GONE = 12
"""So many notes that are gone are looked for in the history for one page."""
Telling = Mapping[str, Callable[..., Any]]
NOTHING: Telling = {"named": lambda text: ((text, ""),), "whose": lambda unit: ""}
"""What a page without a memory gets, such as the door."""


def tell_of(memory: Memory, asked: Asked) -> Telling:
    """Return what the templates of a page call: ``named(text)`` and ``whose(unit)``."""
    space, gone = asked.caller.space, iter(range(_MOST_GONE))

    @cache
    def name(id: str) -> tuple[str, str]:
        # The reader may not see it, or it went: its id is no secret.
        with suppress(KimiMemoryError):
            return title_of(memory, space.filed(memory, id).note.id), id
        # Who sees a part of the memory sees none of its past.
        if not space and next(gone, None) is not None:
            return _title_of_gone(memory, id), ""
        return id, ""

    def named(text: str) -> Sequence[tuple[str, str]]:
        return [name(id) if id else (said, "") for said, id in split_ids(text)]

    @cache
    def searcher() -> Searcher:
        return memory.index.searcher()  # It looks at the folder: once for a page is enough.

    @cache
    def several() -> bool:
        return are_several(searcher(), Request("task", 0, "", bound=space.narrowed))

    def whose(unit: Unit) -> str:
        with memory.index.guard:
            return find_person(searcher(), unit) if several() else ""

    return {"named": named, "whose": whose}


def _title_of_gone(memory: Memory, id: str) -> str:
    """Return what a note said last that is not there any more; its id where nobody knows."""
    if not memory.history.ready():
        return id
    # A history that cannot be read takes the name away, not the page.
    with suppress(KimiMemoryError):
        return next((one.says for one in reversed(memory.timeline(id)) if one.says), id)
    return id
