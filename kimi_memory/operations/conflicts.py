"""Conflicts of a memory: what contradicts what, and a person's choice between them."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.actor import Actor
from kimi_memory.domain.card import Card
from kimi_memory.domain.job import JobReport
from kimi_memory.jobs.conflict_pages import Dispute, disputes
from kimi_memory.jobs.resolve_conflict import Choice, Resolve
from kimi_memory.store.notes.notes import Shelf

__all__ = ["Choice", "Dispute", "conflicts", "resolve"]


def conflicts(memory: Memory) -> list[Dispute]:
    """Return what waits for a choice, each with all of its sides."""
    shelf = Shelf(memory.store)
    marked = (e for e in shelf.entries().values() if e.kind == "card" and e.status == "conflicted")
    notes = [shelf.file(entry.path).note for entry in marked]
    return disputes(note for note in notes if isinstance(note, Card))


def resolve(memory: Memory, name: str, choice: Choice, *, dry_run: bool = False) -> JobReport:
    """Settle a conflict as a person says; `Memory.undo` takes it back.

    Args:
        memory: an open memory.
        name: key of the conflict, or the id of one of its sides or its beginning.
        choice: what the person says.
        dry_run: report the diff and write nothing.

    Raises:
        NotFoundError: there is no such conflict, or no such side.
        UsageError: not exactly one choice is made.
    """
    choice = replace(choice, value=memory.screen.pass_text(choice.value).text)
    job = Resolve(memory.store, memory.settings, memory.clock())
    actor = Actor(f"job:{job.kind}", memory.actor.origin, job=job.kind)
    return memory.jobs.run(job.plan(name, choice), actor, dry_run=dry_run)
