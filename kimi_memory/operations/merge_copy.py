"""Merging another branch or copy of a memory: one transaction, one commit with two parents."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.change import Actor, Change, Create, Delete, Update, digest
from kimi_memory.domain.job import Operation
from kimi_memory.errors import GateError, HistoryError, UsageError
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.merge.by_git import finish_merge
from kimi_memory.merge.trees import Joined, Tree, join
from kimi_memory.store.files.paths import is_truth
from kimi_memory.store.git.merge_commit import Merger


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did, or with a dry run would do."""

    source: str
    theirs: str
    """The other commit."""
    commit: str = ""
    """The current commit afterwards; empty where nothing was to do, and with a dry run."""
    paths: tuple[str, ...] = ()
    """Files that change here."""
    joined: int = 0
    """Notes that both sides changed."""
    variants: tuple[tuple[str, str], ...] = ()
    """Cards with two statements, each with the candidate that keeps the other one."""
    forks: tuple[str, ...] = ()
    """Sessions that went on in both, under the names their later turns have now."""
    kept: tuple[str, ...] = ()
    """Versions that could not be merged."""
    settled: tuple[Operation, ...] = ()
    """What became of cards that say something of one thing."""


def merge_copy(memory: Memory, source: str, *, dry_run: bool = False) -> MergeReport:
    """Bring what another branch or copy has into this memory.

    What comes from there waits for a person's word as what a pull brings.

    Args:
        memory: opened for writing.
        source: a branch, a commit, or the folder of another copy.
        dry_run: report, and write nothing but objects that git does not show.

    Raises:
        HistoryError: it is another memory, has no common history, or the source is not there.
        GateError: too many notes would go.
        ChangedOnDiskError: somebody saved a file meanwhile; nothing was merged.
    """
    with memory.store.lock("job"):
        memory.batch.flush()
        merger = memory.history.merger()
        theirs = _find_commit(merger, source)
        _check_memory(memory, theirs, source)
        bases = merger.bases(theirs)
        if theirs in bases:
            return MergeReport(source, theirs)
        if not bases:
            raise HistoryError(
                f"{source} has no common history with this memory, as after a purge. "
                "Copy this memory anew, or import what it knows."
            )
        base, ours, other = _read_trees(merger, bases, theirs)
        merged = join(base, ours, other)
        changes = list(_list_changes(ours, merged.files))
        _check_losses(memory, changes, ours)
        if dry_run:
            return _report(source, theirs, "", changes, merged)
        made = theirs if bases == [merger.ours] else merger.commit(theirs, _contents(changes))
        _carry_out(memory, merger, made, changes)
        for path, content in merged.files.items():
            if not is_truth(path):
                memory.store.view(path, content)
    memory.take_edits()
    settled = () if made == theirs else _settle(memory, merger, made)
    return replace(_report(source, theirs, made, changes, merged), settled=settled)


def continue_merge(memory: Memory) -> MergeReport:
    """Finish a merge that git began and could not end by itself.

    What a person settled in the files stays; everything else is merged by its values.

    Raises:
        UsageError: git merges nothing.
        HistoryError: it merges several commits at once, or another memory.
    """
    with memory.store.lock("job"):
        merger = memory.history.merger(begun=True)
        theirs = merger.other_side()
        if not theirs:
            raise UsageError("No merge of git with one other commit is under way here.")
        _check_memory(memory, theirs, "MERGE_HEAD")
        bases = merger.bases(theirs)
        base, ours, other = _read_trees(merger, bases, theirs) if bases else ({}, {}, {})
        paths = sorted({*base, *ours, *other})
        found = {path: memory.store.read(path) for path in paths if memory.store.exists(path)}
        merged = join(base, ours, other)
        changes = list(_list_changes(found, finish_merge(base, ours, other, found)))
        # The commit is that of the values alone; what a person settled is committed upon it.
        made = merger.ours
        if theirs not in bases:
            made = merger.commit(theirs, _contents(list(_list_changes(ours, merged.files))))
        _carry_out(memory, merger, made, changes)
        merger.end()
    memory.written()
    memory.batch.flush("Settled by hand")
    memory.take_edits()
    settled = () if made == merger.ours else _settle(memory, merger, made)
    return replace(_report("MERGE_HEAD", theirs, made, changes, merged), settled=settled)


def _settle(memory: Memory, merger: Merger, made: str) -> tuple[Operation, ...]:
    """Judge what both copies say of one thing; `made` is the commit of their merge."""
    brought = Brought(*merger.describe(made))
    return memory.run(Settle(memory, brought)).operations


def _find_commit(merger: Merger, source: str) -> str:
    if source and (folder := Path(source)).is_dir():
        return merger.fetch(folder.resolve())
    return merger.find(source)


def _check_memory(memory: Memory, theirs: str, source: str) -> None:
    """Refuse the commit of another memory."""
    content = memory.history.content(theirs, MARKER) or b""
    try:
        found = tomllib.loads(content.decode("utf-8", "replace")).get("memory")
    except tomllib.TOMLDecodeError:
        found = None
    id = found.get("id") if isinstance(found, dict) else None
    if id != memory.settings.memory.id:
        raise HistoryError(
            f"{source} is another memory (id {id}). Only copies of one memory are merged; "
            "use 'kimi-memory import' for what another one knows."
        )


def _read_trees(merger: Merger, bases: list[str], theirs: str) -> tuple[Tree, Tree, Tree]:
    if len(bases) == 1:
        base, ours, other = merger.read([bases[0], merger.ours, theirs]).trees
        return base, ours, other
    # Copies that merged each other crosswise: what their last common states have together.
    *olds, ours, other = merger.read([*bases, merger.ours, theirs], whole=True).trees
    base = olds[0]
    for old in olds[1:]:
        base = join({}, base, old).files
    return base, ours, other


def _list_changes(ours: Tree, files: Mapping[str, bytes]) -> Iterator[Change]:
    for path in sorted({*ours, *files}):
        old, new = ours.get(path), files.get(path)
        if old == new or not is_truth(path):
            continue
        if new is None:
            yield Delete(path, digest(ours[path]))
        elif old is None:
            yield Create(path, new)
        else:
            yield Update(path, digest(old), new)


def _contents(changes: list[Change]) -> dict[str, bytes | None]:
    return {
        change.path: change.content if isinstance(change, Create | Update) else None
        for change in changes
    }


def _check_losses(memory: Memory, changes: list[Change], ours: Tree) -> None:
    """Stop a merge that takes away more notes than the settings allow."""
    gone = sum(
        isinstance(change, Delete)
        and change.path.endswith(".md")
        and b"\nid: " in ours[change.path]
        for change in changes
    )
    most = memory.settings.gates.max_loss
    every = sum(path.endswith(".md") for path in memory.store.files("semantic"))
    if gone > max(1, most * every):
        raise GateError(
            "losses",
            f"the merge would take {gone} notes away",
            "Look with --dry-run; if it is meant, raise gates.max_loss in memory.toml",
        )


def _carry_out(memory: Memory, merger: Merger, made: str, changes: list[Change]) -> None:
    """Write the files and what of them waits, then make the commit the current one."""
    vetting = memory.store.vetting
    contents = _contents(changes)
    found = {
        path: vetting.merged(path, content)
        for path, content in contents.items()
        if vetting is not None and content is not None
    }
    waiting = {path: one for path, one in found.items() if one is not None}
    actor = Actor("merge", memory.actor.origin)
    if changes:
        # In the same transaction: after a crash between the two they would count at once.
        memory.store.apply(changes, actor, subject="merge", waiting=waiting)
    merger.publish(made)
    memory.host.notice("changes_applied", paths=tuple(contents), job=None)


def _report(
    source: str, theirs: str, made: str, changes: list[Change], merged: Joined
) -> MergeReport:
    moved = {**merged.sessions.ours, **merged.sessions.theirs}
    return MergeReport(
        source,
        theirs,
        made,
        tuple(change.path for change in changes),
        len(merged.notes.joined),
        tuple(merged.notes.variants),
        tuple(sorted(one.to for one in moved.values())),
        merged.kept,
    )
