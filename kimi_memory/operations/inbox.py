"""What of a memory asks for a person: edited pages, proposals, conflicts."""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.api.memory import Memory
from kimi_memory.jobs.import_edits import ImportEdits
from kimi_memory.jobs.resolve_conflict import conflicts
from kimi_memory.jobs.review import waiting
from kimi_memory.jobs.suggestions import MOST, suggestions
from kimi_memory.operations.confirming import waiting_files
from kimi_memory.store.notes.notes import Shelf


def asking(memory: Memory) -> Mapping[str, int]:
    """Return how much waits, by the command that deals with it; what is zero is left out."""
    shelf = Shelf(memory.store)
    edits = ImportEdits(memory)
    few = min(len(suggestions(shelf, memory.settings.introspect.accept)), MOST)
    found = {
        "review pages": len(edits.waiting(shelf)) + len(edits.touched(shelf)),
        "review": len(waiting_files(memory)) + sum(1 for _ in waiting(shelf)) + few,
        "conflicts": len(conflicts(memory)),
    }
    return {command: count for command, count in found.items() if count}
