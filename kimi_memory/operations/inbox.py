"""What of a memory asks for a person: edited pages, proposals, conflicts."""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.api.memory import Memory
from kimi_memory.jobs.import_edits import Twoway
from kimi_memory.jobs.review import waiting
from kimi_memory.jobs.suggestions import MOST, suggestions
from kimi_memory.operations.confirming import waiting_files
from kimi_memory.operations.conflicts import conflicts
from kimi_memory.store.notes.notes import Shelf


def asking(memory: Memory) -> Mapping[str, int]:
    """Return how much waits, by the command that deals with it; what is zero is left out."""
    shelf = Shelf(memory.store)
    twoway = Twoway.of(memory.store, memory.history, memory.settings, memory.clock())
    few = min(len(suggestions(shelf, memory.settings.introspect.accept)), MOST)
    found = {
        "review pages": len(twoway.waiting(shelf)) + len(twoway.touched(shelf)),
        "review": len(waiting_files(memory)) + sum(1 for _ in waiting(shelf)) + few,
        "conflicts": len(conflicts(memory)),
    }
    return {command: count for command, count in found.items() if count}
