"""Pages of the past: the states of a note, where each line is from, receipts of what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.past import BlameLine, Cause
from kimi_memory.errors import UsageError
from kimi_memory.formats.job_file import counts_of, job_path
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.id_names import title_of
from kimi_memory.operations.usage_records import Receipt, read_receipts
from kimi_memory.server.looking_back import blame_of, timeline_of
from kimi_memory.web.page_types import Asked, View

RECEIPTS = 50
LINES = 400
"""So many lines of a file are blamed on one page."""


def show_history(memory: Memory, asked: Asked) -> View:
    """Show every state of a note, newest first, and since when it says what it says."""
    space = asked.caller.space
    filed = space.filed(memory, asked.get("id"))
    values: dict[str, Any] = {"note": filed.note, "path": filed.path, "states": [], "since": []}
    if not memory.history.ready():
        return View("history", "note_history", values)
    states = timeline_of(memory, space, filed.note.id)[::-1]
    values["states"] = [replace(one, cause=_moved(memory, one.cause)) for one in states]
    values["since"] = _on_clocks(memory, blame_of(memory, space, filed.note.id))
    return View("history", "note_history", values)


def show_blame(memory: Memory, asked: Asked) -> View:
    """Show of each line of a file which commit, which job and which turns it is from."""
    path, first = asked.get("path"), max(asked.number("from", 1), 1)
    if not path:
        raise UsageError("Name a file of the memory, such as ?path=MEMORY.md.")
    if not memory.history.ready():
        return View("blame", "blame", {"path": path, "lines": [], "more": 0})
    found = memory.blame(f"{path}:{first}-{first + LINES - 1}")
    more = first + LINES if len(found) == LINES else 0
    return View("blame", "blame", {"path": path, "lines": _on_clocks(memory, found), "more": more})


def _on_clocks(memory: Memory, lines: Sequence[BlameLine]) -> list[BlameLine]:
    return [replace(one, cause=_moved(memory, one.cause)) if one.cause else one for one in lines]


def _moved(memory: Memory, cause: Cause) -> Cause:
    return replace(cause, at=in_zone(cause.at, memory.zone))


class Purge(NamedTuple):
    """The receipt of something that was destroyed."""

    id: str
    at: datetime
    subject: str
    counts: Mapping[str, int]


class Given(NamedTuple):
    """What an agent was shown at one time."""

    at: datetime
    to: str
    shown: tuple[tuple[str, str], ...]
    """Ids and titles of notes."""
    others: int
    """How much else: turns, and what is there no more."""


def show_receipts(memory: Memory, asked: Asked) -> View:
    """Show what was destroyed, and what agents were shown last."""
    zone, read = memory.zone, memory.store.read
    purges = [
        Purge(job.id, in_zone(job.at, zone), job.subject, counts_of(read(job_path(job.id))))
        for job in memory.jobs.records("purge")
    ]
    last = islice(reversed([*read_receipts(memory)]), RECEIPTS)
    names: dict[str, str] = {}
    given = [_give(memory, one, names) for one in last]
    newest = sorted(purges, key=lambda one: one.at, reverse=True)
    return View("receipts", "receipts", {"purges": newest, "given": given})


def _give(memory: Memory, receipt: Receipt, names: dict[str, str]) -> Given:
    notes = [id for id in receipt.hits if id.startswith(("card-", "event-"))]
    for id in notes:
        names.setdefault(id, title_of(memory, id))
    shown = tuple((id, names[id]) for id in notes)
    others = len(receipt.hits) - len(notes)
    return Given(in_zone(receipt.at, memory.zone), receipt.to, shown, others)
