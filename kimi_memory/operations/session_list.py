"""Sessions as people list them: open ones first, then by the day they began, newest first."""

from __future__ import annotations

from kimi_memory.api.memory import Memory
from kimi_memory.store.notes import sessions


def list_sessions(memory: Memory) -> list[sessions.Place]:
    """Return where all sessions lie, in the order in which people look for them."""
    with memory.index.guard:
        searcher = memory.index.searcher()
        starts = searcher.once("starts", searcher.find_starts)
    # A session of which the index knows no turn stands by its path.
    return sorted(
        sessions.places(memory.store),
        key=lambda one: (one.open, starts.get(one.path, 0.0), one.path),
        reverse=True,
    )
