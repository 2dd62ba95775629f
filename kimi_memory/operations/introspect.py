"""Introspection of an opened memory: distil, consolidate, cool down, forget."""

from __future__ import annotations

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import JobReport
from kimi_memory.errors import GateError
from kimi_memory.jobs.introspect import Introspect
from kimi_memory.jobs.introspect_state import Summary
from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Introspection:
    """What an introspection did, or with a dry run would do."""

    distilled: tuple[JobReport, ...]
    """One report a session that waited, each a job of its own."""
    job: JobReport
    """Merges, links, temperatures and forgetting, in one job."""
    summary: Summary
    stopped: tuple[str, ...] = ()
    """One line for each session whose job a gate stopped; it waits for the next time."""


def introspect(memory: Memory, *, dry_run: bool = False) -> Introspection:
    """Distil what waits, then merge, link, cool down and forget.

    `Memory.undo` takes each of its jobs back.

    Args:
        memory: an open memory.
        dry_run: report the diffs and write nothing. What waits to be distilled is
            then not seen by the later phases.
    """
    distilled, stopped = [], []
    with memory.store.folder_scan.hold():
        if not dry_run:
            # First: a page that is written anew must have a person's edits in it.
            memory.take_edits()
        for id in memory.waiting():
            try:
                distilled.append(memory.distil(id, dry_run=dry_run))
            except GateError as error:
                stopped.append(f"{id}: {error}")
        job = Introspect(memory)
        report = memory.run(job, dry_run=dry_run)
    return Introspection(tuple(distilled), report, job.summary, tuple(stopped))
