"""Repair of merges that git made: what it merged by lines is merged by values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kimi_memory.domain.job import Change, Create, JobReport
from kimi_memory.errors import GateError, HistoryError
from kimi_memory.formats.jsonl import has_marks, split_marks
from kimi_memory.jobs.losing_versions import LosingVersion, find_losing, merge_losing
from kimi_memory.jobs.merging import (
    join_commits,
    join_files,
    list_changes,
    read_memory_id,
    write_merge,
    write_views,
)
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.by_git import finish_merge
from kimi_memory.merge.files import CONFLICTS
from kimi_memory.merge.trees import Tree, join
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.store.copy import checkpoint
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.git.head import list_unexamined, note_examined
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.git.outside_merges import REPAIRS, FoundMerge
from kimi_memory.store.notes.notes import Shelf, tombstone_lines
from kimi_memory.store.reading import WHY, is_judged


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done about one merge, or about files in which one left its marks."""

    merge: str = ""
    """The merge commit; empty for files whose merge is not known."""
    paths: tuple[str, ...] = ()
    """Files that were written."""
    settled: int = 0
    """Cards of both sides that were judged."""
    held: str = ""
    """Why its cards were not judged; empty where they were."""
    about: str = "files with marks of git"
    """What was merged, where no merge is known."""

    def __str__(self) -> str:
        """Return one line for people."""
        name = f"the merge {self.merge[:10]} of git" if self.merge else self.about
        kept = [path for path in self.paths if path.startswith(f"{CONFLICTS}/")]
        merged = len(self.paths) - len(kept)
        # Of a single file whose other version waits, nothing was merged.
        told = merged and (self.merge or not kept)
        done = [f"{counted(merged, 'files')} merged by their values"] if told else []
        done += [f"one version stays, the other waits in {path}" for path in kept]
        done += [f"{counted(self.settled, 'cards')} settled"] if self.settled else []
        done += [f"its cards are not settled: {self.held}"] if self.held else []
        return f"{name}: {', '.join(done)}"


class MergeRepair:
    """Finishes what came by git's own merges, and merges of ours that were cut off.

    Args:
        context: the memory.
        flush: commits what is pending, under a subject.
        run: runs the job that settles a merge.
    """

    def __init__(
        self,
        context: JobContext,
        flush: Callable[[str], object],
        run: Callable[[Settle], JobReport],
    ) -> None:
        self._context, self._flush, self._run = context, flush, run
        self._store, self._history = context.store, context.history

    def repair(self, *, thorough: bool = False) -> list[Repaired]:
        """Repair every merge that was not examined yet; return the merges that changed something.

        Args:
            thorough: look for marks in all files, though nothing was merged lately, and for
                losing versions that a sync tool left.

        Raises:
            HistoryError: git refused.
            ChangedOnDiskError: somebody saved a file meanwhile; the next call repairs it.
        """
        with self._store.lock("job"):
            try:
                merger = self._history.merger()
            except HistoryError:
                return []  # The person is in the middle of it; `merge --continue` finishes that.
            moved = list_unexamined(self._store.root, merger.folder, self._since())
            if not moved and not thorough:
                return []
            marked = [path for path in self._list_marked() if thorough or self._is_committed(path)]
            # What is on disk is in git before anything is written over it.
            self._flush("Before the repair of a merge")
            done = [self._finish(merge) for merge in merger.find_merges(moved)]
            done.append(self._repair_marked(marked))
            done += map(self._merge_losing, find_losing(self._store) if thorough else ())
            self._put_tombstones_back()
            self._history.merger().clear_conflicts()
            if moved:
                note_examined(self._store.root, moved[-1][1])
        return [one for one in done if one.paths or one.settled or one.held]

    def _since(self) -> float:
        return self._store.journal.born() / 1e9

    def _finish(self, merge: FoundMerge) -> Repaired:
        paths = () if merge.by_values else self._repair_merge(merge)
        name, at, changed = self._history.merger().describe(merge.commit)
        try:
            report = self._run(Settle(self._context, Brought(name, at, changed | set(paths))))
        except GateError as error:
            return Repaired(merge.commit, paths, held=str(error))
        return Repaired(merge.commit, paths, len(report.operations))

    def _repair_merge(self, merge: FoundMerge) -> tuple[str, ...]:
        merger, commits = self._history.merger(), [merge.first, merge.second, merge.commit]
        bases = merger.bases(merge.second, merge.first)
        ids = {read_memory_id(self._history, commit) for commit in commits}
        if not bases or len(ids) != 1:
            return ()  # Not two copies of one memory: what was meant by it, a person knows.
        (base, ours, theirs, found), _ = join_commits(merger, bases, commits)
        wanted = finish_merge(base, ours, theirs, found)
        touched = {*base, *ours, *theirs, *found}
        now, files = _carry_on(merger, merge.commit, found, wanted, touched)
        return self._write(list_changes(now, files), files, merge.commit)

    def _repair_marked(self, paths: Sequence[str]) -> Repaired:
        """Merge the two versions that each file with marks shows."""
        there = {path: self._store.read(path) for path in paths if self._store.exists(path)}
        now = {path: content for path, content in there.items() if has_marks(path, content)}
        if not now:
            return Repaired()
        sides = [dict[str, bytes](), dict[str, bytes](), dict[str, bytes]()]
        for path, content in now.items():
            for side, shown in zip(sides, split_marks(path, content), strict=True):
                side[path] = shown
        base, ours, theirs = sides
        # The version of our side is no file yet, but what is there is to be replaced by the merge.
        here, merged = join_files(self._store, base, ours, theirs)
        changes = list_changes({**here, **now}, merged.files)
        return Repaired(paths=self._write(changes, merged.files, ""))

    def _merge_losing(self, losing: LosingVersion) -> Repaired:
        """Merge a losing version into its file; the history keeps it as it was."""
        changes, files = merge_losing(self._store, self._history, losing)
        paths = self._write(changes, files, "", gone=frozenset({losing.path}))
        return Repaired(about=losing.path, paths=paths)

    def _put_tombstones_back(self) -> None:
        """Put an empty file where git took that of the tombstones away: only a file can wait."""
        if not self._store.exists(TOMBSTONES) and tombstone_lines(self._store):
            write_merge(self._context, [Create(TOMBSTONES, b"")])
            self._flush("The tombstones wait for a word")

    def _list_marked(self) -> list[str]:
        survey = Shelf(self._store).survey
        return [
            path for path in sorted(filter(is_judged, survey.looks)) if survey.waits(path) == WHY
        ]

    def _is_committed(self, path: str) -> bool:
        """Whether nobody is about to settle a file with marks, as it was committed so."""
        return self._history.content(self._history.head(), path) == self._store.read(path)

    def _write(
        self,
        changes: Sequence[Change],
        files: Tree,
        merge: str,
        gone: frozenset[str] = frozenset(),
    ) -> tuple[str, ...]:
        if not changes:
            return ()
        write_merge(self._context, changes, own=gone)
        write_views(self._context, files)
        paths = tuple(change.path for change in changes)
        trailers = {"Kind": "repair", REPAIRS: merge, **checkpoint(self._store)}
        about = f"the merge {merge[:10]}" if merge else "losing versions" if gone else ""
        subject = f"Repair of {about or 'files with marks'}"
        self._history.commit(subject, trailers=trailers, only=paths)
        self._context.host.notice("changes_applied", paths=paths, job=None)
        return paths


def _carry_on(
    merger: Merger, merge: str, found: Tree, wanted: Tree, touched: set[str]
) -> tuple[Tree, Tree]:
    """Return the files as they are, and as they would be had git merged by values.

    Args:
        merger: of the memory.
        merge: the merge commit.
        found: its files, as far as they are touched.
        wanted: what they should have been.
        touched: paths that one of the merged commits has otherwise than another.
    """
    before, now = merger.read([merge, merger.ours]).trees
    if (touched | wanted.keys()).isdisjoint({*before, *now}):
        return found, wanted
    # What was written since goes on from the merge as it should have been.
    same = {path: content for path, content in found.items() if path not in {*before, *now}}
    rest = {path: content for path, content in before.items() if path not in touched}
    present = {**same, **now}
    return present, join({**found, **before}, present, {**rest, **wanted}).files
