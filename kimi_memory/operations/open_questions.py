"""What waits for a person's word: files, notes and edits, found and counted.

Answers to it stand in `review_queue`, with all that carries them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import LIVE, Card, Origin, Status
from kimi_memory.domain.pages import Proposal
from kimi_memory.domain.session import STATEMENTS
from kimi_memory.jobs.note_edits import touched
from kimi_memory.jobs.pages import Pages, open_disputes
from kimi_memory.jobs.suggestions import MOST, suggestions
from kimi_memory.store.notes.notes import Filed, Shelf
from kimi_memory.store.reading import WHY, Waiting


def waiting_files(memory: Memory) -> list[Waiting]:
    """Return the files that wait for a person's word, in order of path."""
    vetting, waiting = memory.store.vetting, Shelf(memory.store).waiting()
    found = (path for path, why in waiting.items() if why != WHY)
    files = (vetting.waiting(path) for path in found) if vetting is not None else ()
    return [one for one in files if one is not None]


def marked(memory: Memory) -> list[str]:
    """Return the files in which a merge left its marks, in order of path."""
    return [path for path, why in Shelf(memory.store).waiting().items() if why == WHY]


def waiting_notes(shelf: Shelf) -> Iterator[Filed]:
    """Yield proposals, then lines that nobody confirmed, oldest first.

    A person wrote them, or an agent asked to remember them; of what is only found in a talk there
    may be ever so many.
    """
    proposals = (filed for filed in shelf.notes(Proposal.kind))
    yield from sorted(proposals, key=lambda filed: (filed.note.created, filed.note.id))
    entries = [e for e in shelf.entries().values() if e.kind == Card.kind]
    for entry in sorted(entries, key=lambda entry: entry.id):
        if entry.status != str(Status.CANDIDATE):
            continue
        stated = any(mark.startswith(STATEMENTS) for mark in entry.quotes)
        asked = entry.trust == str(Origin.AGENT) and stated
        # Of a card that was copied in nobody knows who wrote it, and there may be ever so many.
        if not asked and entry.trust != str(Origin.HUMAN):
            continue
        filed = shelf.file(entry.path)
        card = filed.note
        own = isinstance(card, Card) and card.status in LIVE and str(card.trust) == entry.trust
        if own and (asked or all(source.by_hand for source in card.sources)):
            yield filed


def asking(memory: Memory, shelf: Shelf | None = None) -> Mapping[str, int]:
    """Return how much waits, by the command that deals with it; what is zero is left out."""
    shelf = shelf or Shelf(memory.store)
    pages = Pages(memory.store, shelf, memory.settings)
    edits = touched(memory.store, memory.history, shelf)
    few = min(len(suggestions(shelf, memory.settings.introspect.accept)), MOST)
    files = sum(why != WHY for why in shelf.waiting().values())
    found = {
        "review pages": len(pages.edited()) + sum(1 for _ in edits),
        "review": files + sum(1 for _ in waiting_notes(shelf)) + few,
        "conflicts": len(open_disputes(shelf)),
    }
    return {command: count for command, count in found.items() if count}
