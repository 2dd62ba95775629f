"""Jobs as a person sees them: what one changed, and those that are run on request."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.job_registry import scheduled
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.operations.introspect import introspect


def diff_of_job(memory: Memory, job: Job) -> str:
    """Return what a job changed; in place of it why nobody can say."""
    commit = memory.history.find("Job", job.id) if memory.history.ready() else None
    if commit is None:
        return ""
    try:
        return memory.history.diff(f"{commit.hash}^", commit.hash)
    except KimiMemoryError as error:
        # The list is worth more than one diff that git cannot make.
        return str(error)


def run_kind(memory: Memory, kind: str, *, dry_run: bool = False) -> Sequence[JobReport]:
    """Run the jobs of a kind, or show what they would do.

    Raises:
        UsageError: there is no such job, or nobody starts it by hand.
    """
    if kind == "distil":
        return memory.distil_waiting(dry_run=dry_run)
    if kind not in {job.name for job in scheduled()}:
        raise UsageError(f"{kind[:40]!r} is no job that can be run.")
    if kind == "introspect":
        found = introspect(memory, dry_run=dry_run)
        return [*found.distilled, found.job]
    # A day is made of distilled sessions.
    first = [] if dry_run else memory.distil_waiting()
    return [*first, *memory.consolidate(kind, dry_run=dry_run)]
