"""Files that wait for a person's word, or for the end of a merge: no job rewrites them."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.job import Plan, Step
from kimi_memory.store.notes.notes import Shelf

_ANSWERS = frozenset({"review", "forget", "purge"})
"""Jobs by which a person says what becomes of a file."""


def without_waiting(plan: Plan, shelf: Shelf) -> Plan:
    """Return a plan without the steps that would rewrite such a file; they are named."""
    if plan.kind in _ANSWERS:
        return plan
    kept: list[Step] = []
    left_out: dict[str, None] = {}
    for step in plan.steps:
        entry = shelf.entries().get(step.note.id)
        why = shelf.survey.waits(entry.path) if entry is not None else ""
        if entry is not None and why:
            # Once for each file, however many steps would touch it.
            left_out[f"{entry.path} stays as it is: {why}"] = None
        else:
            kept.append(step)
    if not left_out:
        return plan
    return replace(plan, steps=tuple(kept), left_out=(*plan.left_out, *left_out))
