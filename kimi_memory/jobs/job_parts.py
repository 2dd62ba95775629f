"""The parts of a job: what a gate holds back of it, so that the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kimi_memory.domain.change import Change
from kimi_memory.domain.job import Plan
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Event
from kimi_memory.errors import GateError
from kimi_memory.jobs.gates import JobGates
from kimi_memory.jobs.render import Render

Read = Callable[[list[Change]], Mapping[str, bytes]]
"""Gives the bytes of the files that changes update, by path."""


def split_off_held(
    plan: Plan, render: Render, gates: JobGates, before: Read
) -> tuple[Plan, list[Change]]:
    """Return a plan without the parts that a gate holds, each named, and its changes.

    A part is a note, together with the notes it replaces or is linked with, or a page. What a
    person asked for is done whole or not at all.

    Raises:
        GateError: nothing would be left, or a person asked for what may not be done.
    """
    held: dict[str, GateError] = {}
    parts = render.parts(plan.steps)
    for note, changes in parts:
        # Typed steps decide about cards and events, and git has what they said before.
        free = plan.asked or isinstance(note, Card | Event)
        _check_part(held, note.id, gates, changes, {} if free else before(changes))
    for change in plan.changes:
        _check_part(held, change.path, gates, [change], {} if plan.asked else before([change]))
    pages = [change for change in plan.changes if change.path not in held]
    gone = _with_related(set(held), [note for note, _ in parts])
    kept = [*pages, *(change for note, found in parts for change in found if note.id not in gone)]
    if held and (plan.asked or not kept):
        raise next(iter(held.values()))
    steps = tuple(step for step in plan.steps if step.note.id not in gone)
    reasons = tuple(f"{error.why}. {error.remedy}." for error in held.values())
    left = replace(plan, steps=steps, changes=tuple(pages), left_out=(*plan.left_out, *reasons))
    return left, kept


def _check_part(
    held: dict[str, GateError],
    name: str,
    gates: JobGates,
    changes: list[Change],
    texts: Mapping[str, bytes],
) -> None:
    try:
        gates.check_part(changes, texts)
    except GateError as error:
        held[name] = error


def _with_related(ids: set[str], notes: list[Note]) -> set[str]:
    """Return the ids of held notes and of those that only make sense together with them."""
    found = set(ids)
    for note in notes:
        if not isinstance(note, Card):
            continue
        related = {*note.supersedes, *(link.to for link in note.links)}
        if note.id in ids:
            found |= related
        # A card that replaces a held one would leave nothing in its place.
        elif related & ids:
            found.add(note.id)
    return found
