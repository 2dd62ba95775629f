"""Adopting another memory: what it knows and what was said in it, without its history."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.memory_identity import read_parent
from kimi_memory.domain.sync import MergeReport
from kimi_memory.errors import HistoryError, UsageError
from kimi_memory.jobs.adopt import Adopted, AdoptMemory
from kimi_memory.jobs.adopted_purges import holds_purged
from kimi_memory.jobs.kept_waiting import waits
from kimi_memory.jobs.merging import read_other_id, write_views
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.operations.merge_copy import describe_join
from kimi_memory.operations.usage_records import read_records
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.merge_trees import read_versions
from kimi_memory.store.git.read import read_content
from kimi_memory.store.git.tree import list_tree


def adopt_memory(memory: Memory, source: str, *, dry_run: bool = False) -> MergeReport:
    """Take over what another memory knows, with its sessions and what was forgotten there.

    All of it waits for a person's word, and `Memory.undo` takes it back. What says who this memory
    is stays as it is. Adopted again, only what changed there since is taken.

    Args:
        memory: opened for writing.
        source: the folder of the other memory. What it wrote since its last commit is not seen.
        dry_run: report, and write nothing.

    Raises:
        UsageError: there is no such folder, or it is a copy of this memory.
        HistoryError: it has no history, or holds what was purged here.
    """
    folder = Path(source)
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {source}. Name the one that the other memory lies in."
        )
    # No job may run between the look at both histories and what follows from it.
    with nullcontext() if dry_run else memory.store.lock("job"):
        if not dry_run:
            memory.check_leads()
            memory.repair_merges()
        git, theirs = memory.history.merger().see(folder.resolve())
        job, base = plan_adoption(memory, git, theirs, source)
        done = memory.run(job, dry_run=dry_run)
        report = MergeReport(source, theirs, base=base)
        if job.joined is not None:
            report = describe_join(report, done.paths, job.joined)
        if dry_run or not done.id:
            return report
        assert job.joined is not None
        write_views(memory, job.joined.files)
    at = git.run("rev-list", "-1", "--no-commit-header", "--format=%ct", theirs)
    moment = datetime.fromtimestamp(int(at), UTC)
    brought = Brought(f"{done.id} {theirs}", moment, frozenset(done.paths))
    settled = memory.run(Settle(memory, brought)).operations
    waiting = tuple(path for path in done.paths if waits(memory.store, path))
    return replace(report, commit=done.commit, job=done.id, settled=settled, waiting=waiting)


def plan_adoption(memory: Memory, git: Git, theirs: str, source: str) -> tuple[AdoptMemory, str]:
    """Return the job that adopts another memory, and the commit that both begin with, if any.

    Args:
        memory: an open memory.
        git: sees the objects of both.
        theirs: the commit of the other one.
        source: what a person calls it.

    Raises:
        UsageError: it is a copy of this memory.
        HistoryError: it is no memory, or holds what was purged here.
    """
    id = read_other_id(read_content(git, theirs, MARKER) or b"", source)
    if id == memory.settings.memory.id:
        raise UsageError(f"{source} is a copy of this memory. Merge it without --adopt.")
    adopted = _list_adopted(memory, id)
    before = _find_before(memory, git, theirs, id, adopted)
    read = partial(read_versions, git, partial(list_tree, git), whole=True)
    files, *old = read([theirs, *before]).trees
    other = Adopted(f"{id}@{theirs}", files, old[0] if old else {})
    if holds_purged(memory.store, files, other.before):
        raise HistoryError(
            f"{source} still holds what was purged here. Purge the same there, then adopt it."
        )
    return AdoptMemory(memory, other), "".join(before)


def _has(git: Git, commit: str, head: str) -> bool:
    """Whether a head descends from a commit."""
    return bool(commit) and git.call("merge-base", "--is-ancestor", commit, head).code == 0


def _list_adopted(memory: Memory, id: str) -> list[tuple[str, str]]:
    """Return when another memory was adopted, and the commit that it had then, in order."""
    found = []
    for record in read_records(memory, AdoptMemory.kind):
        name, _, commit = str(record.get("subject")).partition("@")
        if name == id:
            found.append((str(record.get("at")), commit))
    return sorted(found)


def _find_before(
    memory: Memory, git: Git, theirs: str, id: str, adopted: list[tuple[str, str]]
) -> list[str]:
    """Return the commit that both begin with: the one adopted last, or where one was forked."""
    for _, commit in reversed(adopted):
        # Where the other history was written anew, it is met as if for the first time.
        if _has(git, commit, theirs):
            return [commit]
    ours = memory.history.head()
    for head, of, side in ((ours, memory.settings.memory.id, theirs), (theirs, id, ours)):
        forked, commit = read_parent(read_content(git, side, MARKER) or b"")
        if forked == of and _has(git, commit, head):
            return [commit]
    return []
