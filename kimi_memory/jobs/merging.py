"""Files of a merge: the trees that are merged, what changes, and how it is written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kimi_memory.config import FORMAT, MARKER
from kimi_memory.domain.job import Change, Create, Delete, Update, digest, digest_of
from kimi_memory.domain.memory_identity import read_id
from kimi_memory.domain.note import Origin
from kimi_memory.errors import HistoryError
from kimi_memory.jobs.planner import JobContext
from kimi_memory.merge.kinds import is_session
from kimi_memory.merge.note_files import read_notes
from kimi_memory.merge.one_sided import find_id
from kimi_memory.merge.trees import Joined, Tree, join
from kimi_memory.store.files.paths import TOMBSTONES, is_truth
from kimi_memory.store.git.history import History
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.store import Store
from kimi_memory.store.trust.session_growth import turn_lines


def read_memory_id(history: History, commit: str) -> str:
    """Return the id of the memory that a commit is of; empty where it names none."""
    return read_id(history.content(commit, MARKER) or b"")


def read_other_id(content: bytes, source: str) -> str:
    """Return the id of the memory that the settings of another copy name.

    Args:
        content: the settings; empty where there are none.
        source: what a person calls the copy.

    Raises:
        HistoryError: they name none, or are of a newer program.
    """
    check_format(content, source)
    if not (id := read_id(content)):
        raise HistoryError(f"{source} is no memory: its last commit has no {MARKER} with an id.")
    return id


def check_format(content: bytes, source: str) -> None:
    """Refuse what a newer program wrote, before anything of it is here.

    Args:
        content: the settings of the other copy.
        source: what a person calls it.

    Raises:
        HistoryError: its format is newer than this program knows.
    """
    try:
        found = tomllib.loads(content.decode("utf-8", "replace")).get("memory")
    except tomllib.TOMLDecodeError:
        return
    written = found.get("format") if isinstance(found, dict) else None
    # Joined into the settings here, it would close this memory to the program that runs.
    if isinstance(written, int) and written > FORMAT:
        raise HistoryError(
            f"{source} was written in format {written}, which is newer than this program knows "
            f"({FORMAT}). Nothing of it was taken. Upgrade kimi_memory."
        )


def join_commits(
    merger: Merger, bases: Sequence[str], commits: Sequence[str]
) -> tuple[list[Tree], Joined]:
    """Return trees as `read_trees` does, and what comes of merging the first two commits.

    What a merge makes may be there already and the same in all trees: a version that lost
    before, a session that forked before. The trees hold these files, too.
    """
    trees = read_trees(merger, bases, commits)
    while True:
        merged = join(*trees[:3])
        there = _find_made(merger, commits[0], trees, merged) if len(bases) == 1 else {}
        if not there:
            return trees, merged
        trees = [{**tree, **there} for tree in trees]


def _find_made(merger: Merger, commit: str, trees: Sequence[Tree], merged: Joined) -> Tree:
    """Return the files of a commit, beside those that differ, that a merge makes."""
    known = {path for tree in trees for path in tree}
    new, ids = merged.files.keys() - known, {id for _, id in merged.notes.variants}
    # A version that lost may lie anywhere: somebody may have moved it since.
    there = merger.read_files(commit, (new | merger.find_notes(commit, ids)) - known)
    return {p: content for p, content in there.items() if p in new or find_id(content, p) in ids}


def read_trees(merger: Merger, bases: Sequence[str], commits: Sequence[str]) -> list[Tree]:
    """Return what the last common states have together, then the trees of the commits."""
    if len(bases) < 2:
        trees = list(merger.read([*bases, *commits], whole=not bases).trees)
        return trees if bases else [{}, *trees]
    # Copies that merged each other crosswise have several.
    trees = list(merger.read([*bases, *commits], whole=True).trees)
    base = trees[0]
    for old in trees[1 : len(bases)]:
        base = join({}, base, old).files
    return [base, *trees[len(bases) :]]


def list_changes(ours: Tree, files: Mapping[str, bytes]) -> list[Change]:
    """Return what makes one tree of another."""
    return list(_yield_changes(ours, files))


def _yield_changes(ours: Tree, files: Mapping[str, bytes]) -> Iterator[Change]:
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


def name_changes(store: Store, kind: str, changes: Iterable[Change]) -> str:
    """Return what names a job of a kind by what it changes, and by how many were done before."""
    # The same could be asked for again after a person took it back by hand.
    done = sum(path.startswith(f"mid-term/jobs/{kind}-") for path in store.files("mid-term/jobs"))
    return digest_of([kind, str(done), *map(str, changes)])


def contents_of(changes: Sequence[Change]) -> dict[str, bytes | None]:
    """Return what changes leave at each path; None where nothing stays."""
    return {
        change.path: change.content if isinstance(change, Create | Update) else None
        for change in changes
    }


def find_own(context: JobContext, ours: Tree, merged: Joined) -> frozenset[str]:
    """Return the files of a merge that only say where turns of ours stand now.

    Where both sides went on with a session, turns of ours may move to another one, and evidence
    with them: nobody else said anything in these files.

    Args:
        context: the memory.
        ours: the files here.
        merged: what came of the merge.
    """
    vetting, moves = context.store.vetting, merged.sessions.ours
    if not moves or vetting is None:
        return frozenset()
    counts = {
        path: content
        for path, content in ours.items()
        if context.store.exists(path) and vetting.standing(path, content).cap is None
    }
    talks = [path for path in counts if is_session(path)]
    said = {line for path in talks for line in turn_lines(counts[path])}
    said -= {line for path in talks for line in vetting.unseen_lines(path)}
    pages = {path: content for path, content in counts.items() if path.endswith(".md")}
    notes = {one.path: one.text.encode() for one in read_notes(pages, {}, moves).values()}
    return frozenset(
        path
        for path, content in merged.files.items()
        if notes.get(path) == content
        or (is_session(path) and turn_lines(content) and said.issuperset(turn_lines(content)))
    )


def write_merge(
    context: JobContext,
    changes: Sequence[Change],
    caps: Mapping[str, Origin] | None = None,
    own: frozenset[str] = frozenset(),
    strict: frozenset[str] = frozenset(),
) -> None:
    """Write the files of a merge, and what of them waits for a person's word.

    Args:
        context: the memory.
        changes: what the merge writes.
        caps: of the files that nobody vouches for, see `Vetting.merged`.
        own: the files in which nothing is said that did not count here before.
        strict: the files that wait for review, even if settings or a trusted signature accept them.
    """
    if changes:
        vetting = context.store.vetting
        if vetting is not None and vetting.merged([Update(TOMBSTONES, "", b"")]):
            changes = [_keep_file(change) for change in changes]
        found = vetting.merged(changes, caps, strict) if vetting is not None else {}
        waiting = {path: one for path, one in found.items() if path not in own}
        # In the same transaction: after a crash between the two they would count at once.
        actor = context.actor._replace(name="merge")
        context.store.apply(changes, actor, subject="merge", waiting=waiting)


def join_files(store: Store, base: Tree, now: Tree, theirs: Tree) -> tuple[Tree, Joined]:
    """Return some files as they are and merged, with those in whose place the merge would write.

    Args:
        store: the files of the memory.
        base: what both sides began with.
        now: the files as they are.
        theirs: the other side.
    """
    beside = (path for path in join(base, now, theirs).files if path not in now)
    there = {path: store.read(path) for path in beside if store.exists(path)}
    sides = ({**side, **there} for side in (base, now, theirs))
    return {**now, **there}, join(*sides)


def _keep_file(change: Change) -> Change:
    """Return a change that empties the tombstones' file instead: only a file can wait."""
    if not isinstance(change, Delete) or change.path != TOMBSTONES:
        return change
    return Update(change.path, change.base, b"")


def write_views(context: JobContext, files: Mapping[str, bytes]) -> None:
    """Write what people see of merged sessions."""
    for path, content in files.items():
        if not is_truth(path):
            context.store.view(path, content)
