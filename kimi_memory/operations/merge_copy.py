"""Merging another branch or copy of a memory: one transaction, one commit with two parents."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.job import Change, Create, Delete, Operation, Update
from kimi_memory.domain.sync import MergeReport
from kimi_memory.errors import GateError, HistoryError, UsageError
from kimi_memory.formats.frontmatter import id_of
from kimi_memory.jobs.kept_waiting import waits
from kimi_memory.jobs.merging import (
    contents_of,
    find_own,
    join_commits,
    list_changes,
    read_other_id,
    write_merge,
    write_views,
)
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.jobs.vouching import Caps, Vouched, find_vouched, weigh
from kimi_memory.merge.by_git import finish_merge
from kimi_memory.merge.trees import Joined, Tree, join
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.branches import find_branches, flush_branch
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.remotes import open_remotes
from kimi_memory.store.git.head import note_examined
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.trust.session_growth import turn_lines

# Clocks of two machines differ by seconds; by more, what is known as of a time is uncertain.
_SKEW = timedelta(minutes=5)
_FORK = "Merge in a fork, and pick from it what you want here"


def merge_copy(
    memory: Memory, source: str, *, strict: bool = False, dry_run: bool = False
) -> MergeReport:
    """Bring what another branch or copy has into this memory.

    What comes from there waits for a person's word as what a pull brings.

    Args:
        memory: opened for writing.
        source: a branch, a commit, or the folder of another copy.
        strict: notes that both sides changed wait for a person's word in any case.
        dry_run: report, and write nothing but objects that git does not show.

    Raises:
        HistoryError: it is another memory, has no common history, or the source is not there.
        NotPrimaryError: another node takes the writes of this memory.
        GateError: too many notes would go.
        ChangedOnDiskError: somebody saved a file meanwhile; nothing was merged.
    """
    with nullcontext() if dry_run else memory.store.lock("job"):
        _make_ready(memory, dry_run=dry_run)
        merger = memory.history.merger()
        theirs = find_source(memory, merger, source, flush=not dry_run)
        bases = find_bases(merger, theirs, source)
        if theirs in bases:
            return MergeReport(source, theirs)
        (base, ours, other), merged = join_commits(merger, bases, [merger.ours, theirs])
        changes = list_changes(ours, merged.files)
        _check_losses(memory, changes, ours)
        paths = tuple(change.path for change in changes)
        report = describe_join(MergeReport(source, theirs), paths, merged)
        at = merger.moment(theirs)
        report = replace(report, ahead_until=at if at - memory.clock() > _SKEW else None)
        report = _count(report, merger, bases[0], (base, ours, other), merged)
        asked = _find_joined(changes, merged) if strict else frozenset[str]()
        weighed = _weigh(memory, merger, theirs, (base, ours, other), merged)
        report = replace(report, signers=weighed.principals if weighed else report.signers)
        if dry_run:
            held = {*asked, *(weighed.caps if weighed is not None else ())}
            return replace(report, waiting=tuple(path for path in report.paths if path in held))
        # What a person just wrote counts, before what comes from elsewhere takes its place.
        memory.store.reconcile()
        made = theirs if bases == [merger.ours] else merger.commit(theirs, contents_of(changes))
        own = find_own(memory, ours, merged)
        _carry_out(memory, merger, made, changes, (weighed and weighed.caps, own, asked))
        write_views(memory, merged.files)
    memory.take_edits()
    settled = () if made == theirs else _settle(memory, merger, made)
    waiting = tuple(path for path in report.paths if waits(memory.store, path))
    return replace(report, commit=made, settled=settled, waiting=waiting)


def _make_ready(memory: Memory, *, dry_run: bool) -> None:
    if not dry_run:
        memory.check_leads()  # Elsewhere, nothing is fetched for nothing.
        memory.repair_merges()
    memory.batch.flush()


def continue_merge(memory: Memory) -> MergeReport:
    """Finish a merge that git began and could not end by itself.

    What a person settled in the files stays; everything else is merged by its values.

    Raises:
        UsageError: git merges nothing.
        HistoryError: it merges several commits at once, another memory, or what is from before
            a purge.
    """
    memory.refuse_if_deployed("a merge", _FORK)
    with memory.store.lock("job"):
        merger = memory.history.merger(begun=True)
        theirs = merger.other_side()
        if not theirs:
            raise UsageError("No merge of git with one other commit is under way here.")
        _check_memory(memory, theirs, "MERGE_HEAD")
        _check_purges(memory, merger)
        bases = merger.bases(theirs)
        sides = [merger.ours, theirs]
        trees: list[Tree] = [{}, {}, {}]
        merged = join(*trees)
        if bases:
            trees, merged = join_commits(merger, bases, sides)
        base, ours, other = trees
        paths = sorted({*base, *ours, *other})
        found = {path: memory.store.read(path) for path in paths if memory.store.exists(path)}
        changes = list_changes(found, finish_merge(base, ours, other, found))
        # The commit is that of the values alone; what a person settled is committed upon it.
        made = merger.ours
        if theirs not in bases:
            made = merger.commit(theirs, contents_of(list_changes(ours, merged.files)))
        _carry_out(memory, merger, made, changes)
        merger.end()
    memory.written()
    memory.batch.flush("Settled by hand")
    memory.take_edits()
    settled = () if made == merger.ours else _settle(memory, merger, made)
    report = MergeReport("MERGE_HEAD", theirs, made, settled=settled)
    return describe_join(report, tuple(change.path for change in changes), merged)


def _check_purges(memory: Memory, merger: Merger) -> None:
    """Refuse to finish a merge that brings back what a purge destroyed."""
    try:
        merger.find("MERGE_HEAD", purged=bool(find_purged_heads(memory)))
    except HistoryError as error:
        raise HistoryError(f"{error} End the merge with 'git merge --abort'.") from error


def _settle(memory: Memory, merger: Merger, made: str) -> tuple[Operation, ...]:
    """Judge what both copies say of one thing; `made` is the commit of their merge."""
    brought = Brought(*merger.describe(made))
    settled = memory.run(Settle(memory, brought)).operations
    note_examined(memory.root, made)
    return settled


def find_source(memory: Memory, merger: Merger, source: str, *, flush: bool) -> str:
    """Return the commit of a branch, of another copy's folder, or of a commit's name.

    Args:
        memory: opened for writing.
        merger: of it.
        source: what a person named.
        flush: whether what was written in a branch becomes a version first.

    Raises:
        HistoryError: there is none, it is another memory, or from before a purge of this one.
    """
    branch = find_branches(memory).get(source)
    if branch is not None and flush:
        flush_branch(memory, branch)
    folder = branch or Path(source)
    purged = bool(find_purged_heads(memory))
    if source and folder.is_dir():
        theirs = merger.fetch(folder.resolve(), purged=purged)
    else:
        try:
            theirs = merger.find(source, purged=purged)
        except HistoryError:
            _name_other_command(memory, source)
            raise
    _check_memory(memory, theirs, source)
    return theirs


def _name_other_command(memory: Memory, source: str) -> None:
    """Raise an error that names the command for what is no branch and no folder.

    Raises:
        UsageError: it is a remote, or a file.
    """
    if source in {one.name for one in open_remotes(memory).read()}:
        raise UsageError(
            f"{source} is a remote. Merge what it has with 'kimi-memory sync {source} --pull'."
        )
    if Path(source).is_file():
        raise UsageError(
            f"{source} is a file. Merge a bundle with 'kimi-memory import bundle {source}'."
        )


def find_bases(merger: Merger, theirs: str, source: str) -> list[str]:
    """Return the last commits that both sides descend from; HistoryError where there are none."""
    bases = merger.bases(theirs)
    if not bases:
        raise HistoryError(
            f"{source} has no common history with this memory, as after a purge. "
            "Copy this memory anew, or import what it knows."
        )
    return bases


def _check_memory(memory: Memory, theirs: str, source: str) -> None:
    """Refuse the commit of another memory."""
    id = read_other_id(memory.history.content(theirs, MARKER) or b"", source)
    if id != memory.settings.memory.id:
        raise HistoryError(
            f"{source} is another memory (id {id}). Take over what another one knows with --adopt, "
            "or only its statements with 'kimi-memory import'."
        )


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
        why = f"the merge would take {counted(gone, 'notes')} away"
        remedy = "Look with --dry-run; if it is meant, raise gates.max_loss in memory.toml"
        raise GateError("losses", why, remedy)


def describe_join(report: MergeReport, paths: tuple[str, ...], merged: Joined) -> MergeReport:
    """Return a report that says what was joined, and which files change by it."""
    sides = (merged.sessions.ours, merged.sessions.theirs)
    forks = {one.to for side in sides for moved in side.values() for one in moved}
    return replace(
        report,
        paths=paths,
        joined=len(merged.notes.joined),
        variants=tuple(merged.notes.variants),
        forks=tuple(sorted(forks)),
        kept=merged.kept,
    )


def _count(
    report: MergeReport, merger: Merger, base: str, trees: tuple[Tree, Tree, Tree], merged: Joined
) -> MergeReport:
    """Return a report that says how far apart both sides were, and what comes along."""
    before, ours, theirs = map(_turns_of, trees)
    # What the base has and one side lacks was taken out there on purpose.
    said = theirs - ours - before
    return replace(
        report,
        base=base,
        ahead=merger.count_since(merger.ours, report.theirs),
        behind=merger.count_since(report.theirs),
        added=sum(
            path not in trees[1] and path in merged.files and bool(id_of(merged.files[path], path))
            for path in report.paths
            if path.endswith(".md")
        ),
        turns=len(said),
        found=len(said & _turns_of(merged.files)),
    )


def _turns_of(tree: Tree) -> set[bytes]:
    """Return the turns in the sessions of a tree: a merge moves their lines, and changes none."""
    paths = (path for path in tree if path.endswith(".jsonl") and "session_" in path)
    return {line.rstrip(b"\n") for path in paths for line in turn_lines(tree[path])}


def _find_joined(changes: list[Change], merged: Joined) -> frozenset[str]:
    """Return the files of notes that both sides changed, and of what else such a note says."""
    ids = {*merged.notes.joined, *(id for pair in merged.notes.variants for id in pair)}
    written = [one for one in changes if isinstance(one, Create | Update)]
    return frozenset(one.path for one in written if id_of(one.content, one.path) in ids)


def _weigh(
    memory: Memory, merger: Merger, theirs: str, trees: tuple[Tree, Tree, Tree], merged: Joined
) -> Vouched | None:
    """Return which files of a merge somebody vouches for; None where nobody known signed any."""
    if not (memory.home.config / "allowed_signers").is_file():
        return None
    found = find_vouched(memory, memory.signing.signers, merger, theirs)
    if found is None:
        return None
    base, ours, other = trees
    vetting, there = memory.store.vetting, filter(memory.store.exists, ours)
    here = {path: vetting.standing(path, memory.store.read(path)).cap for path in there if vetting}
    waiting = {path: cap for path, cap in here.items() if cap is not None}
    return found._replace(caps=weigh(base, (ours, other), (waiting, found.caps), merged.files))


def _carry_out(
    memory: Memory,
    merger: Merger,
    made: str,
    changes: list[Change],
    known: tuple[Caps | None, frozenset[str], frozenset[str]] = (None, frozenset(), frozenset()),
) -> None:
    """Write the files, then make the commit the current one."""
    write_merge(memory, changes, *known)
    merger.publish(made)
    paths = tuple(change.path for change in changes)
    memory.host.notice("changes_applied", paths=paths, job=None)
