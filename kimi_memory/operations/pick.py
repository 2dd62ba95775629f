"""Taking one change of another copy, or what it says of some things."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Operation
from kimi_memory.jobs.merging import write_views
from kimi_memory.jobs.pick import Choice, Pick
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.merge_copy import find_bases, find_source


@dataclass(frozen=True, slots=True)
class PickReport:
    """What a pick did, or with a dry run would do."""

    source: str
    theirs: str
    """The commit that has what was taken."""
    job: str = ""
    """Its record, by which it can be undone; empty with a dry run, and where all was here."""
    commit: str = ""
    paths: tuple[str, ...] = ()
    """Files that change here."""
    waiting: tuple[str, ...] = ()
    """Of them those that wait for a person's word."""
    settled: tuple[Operation, ...] = ()
    """What became of cards that say something of one thing."""


def pick(memory: Memory, what: str, source: str, *, dry_run: bool = False) -> PickReport:
    """Take over one change of another copy, or what it says of one thing, with its evidence.

    Args:
        memory: opened for writing.
        what: a job, a commit, a key, or the id of a note.
        source: a branch, a commit, or the folder of another copy.
        dry_run: report, and write nothing but objects that git does not show.

    Raises:
        HistoryError: it is another memory, has no common history, or the change is a merge.
        NotFoundError: the other copy has no such thing, or it is as it was when they parted.
    """
    return _take_over(memory, source, (what,), changes=True, dry_run=dry_run)


def merge_parts(
    memory: Memory, source: str, names: Sequence[str], *, dry_run: bool = False
) -> PickReport:
    """Take over what another copy says of some things; a later merge brings the rest.

    Args:
        memory: opened for writing.
        source: a branch, a commit, or the folder of another copy.
        names: keys, ids of notes, or sessions as ``session:ID``.
        dry_run: report, and write nothing but objects that git does not show.

    Raises:
        HistoryError: it is another memory, or has no common history.
        NotFoundError: the other copy has no such thing, or it is as it was when they parted.
    """
    return _take_over(memory, source, tuple(names), changes=False, dry_run=dry_run)


def _take_over(
    memory: Memory, source: str, names: tuple[str, ...], *, changes: bool, dry_run: bool
) -> PickReport:
    """Take over a part; with `changes`, the only name may be that of a job or a commit."""
    # No job may run between the look at both histories and what follows from it.
    with nullcontext() if dry_run else memory.store.lock("job"):
        if not dry_run:
            memory.repair_merges()
            memory.batch.flush("Before a pick")
        merger = memory.history.merger()
        theirs = find_source(memory, merger, source, flush=not dry_run)
        find_bases(merger, theirs, source)
        commit, before = merger.find_change(theirs, *names) if changes else ("", "")
        # A merge brought it before.
        if commit and merger.has(commit):
            return PickReport(source, commit)
        job = Pick(memory, Choice(commit or theirs, names, before))
        report = memory.run(job, dry_run=dry_run)
        if dry_run or not report.id:
            return PickReport(source, commit or theirs, paths=report.paths)
        write_views(memory, job.files)
    memory.take_edits()
    name = f"{report.id} {commit or theirs}"
    brought = Brought(name, merger.moment(commit or theirs), frozenset(report.paths))
    settled = memory.run(Settle(memory, brought)).operations
    vetting = memory.store.vetting
    there = (path for path in report.paths if vetting is not None and memory.store.exists(path))
    waiting = (path for path in there if vetting and vetting.waiting(path) is not None)
    return PickReport(
        source, commit or theirs, report.id, report.commit, report.paths, tuple(waiting), settled
    )
