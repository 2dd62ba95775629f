"""Reconciling: what changed in the folder without the store being asked."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import stat_result
from typing import Literal, NamedTuple

from kimi_memory.domain.job import Actor, digest
from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.disk import Stats, signature, worth_writing
from kimi_memory.store.files.locks import Locks
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Tree
from kimi_memory.store.wal.folder_scan import Looks
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.records import EXTERNAL, Entry, is_mark, mark_of

SNAPSHOT = f"{PRIVATE}/snapshot.json"
# Two writes within a tick of the clock look alike, as git knows of its index ("racy git").
_RACY_NS = 50_000_000
_OUTSIDER = Actor(name=EXTERNAL)
ADOPTED = "adopted"
"""Stands for the content of a file that was there before the journal."""

BATCH = 500
"""So many files are looked at before others get their turn: a tenth of a second or so."""
Progress = Callable[[int, int], None]
"""Called with how many of how many are done."""

Kind = Literal["created", "edited", "renamed", "deleted"]
Seen = tuple[int, int, int, str]
"""Size, ctime in ns, inode, and SHA-256 of a file when it was last looked at.

An editor, or an attacker, can set the time of modification back.
"""


class External(NamedTuple):
    """A change that came from outside: an editor, a sync tool, git."""

    path: str
    kind: Kind
    before: str
    after: str
    was: str = ""
    """The path it had, where it was renamed."""
    flag: str = ""
    """``sync-conflict`` for the losing copy a sync tool leaves beside a file."""


class _Run:
    """What a comparison of the folder has come to so far."""

    def __init__(self, old: Mapping[str, Seen], at_ns: int, total: int, born: int) -> None:
        self.old, self.at_ns, self.total, self.done = old, at_ns, total, 0
        self.born = born
        """When the journal was begun: what was there before is taken as it is."""
        self.found: list[External] = []
        self.lost: dict[str, External] = {}
        """Files that are gone, by what they held: one that is new may be one of them."""
        self.new: dict[str, Seen] = {}

    def expected(self, path: str, marks: Mapping[str, str]) -> str:
        """Return the content mark a file should have, empty where it should not be there."""
        seen = self.old.get(path)
        return marks.get(path, seen[3] if seen is not None else "")


class Reconciler:
    """Compares the folder with what the store last saw and wrote itself."""

    def __init__(  # noqa: PLR0913  each is made by the store
        self,
        tree: Tree,
        locks: Locks,
        journal: Journal,
        save: Callable[[str, bytes], None],
        look: Callable[[], Looks],
        *,
        judge: Callable[[Entry, bytes, stat_result], Entry] = lambda entry, content, look: entry,
        note: Callable[[Sequence[Entry], Actor], None] | None = None,
    ) -> None:
        self._tree, self._locks, self._journal, self._save = tree, locks, journal, save
        self._note = note or journal.add
        self._look_around, self._judge_entry = look, judge
        self._seen: dict[str, Seen] | None = None
        self._news = 0

    def run(self, progress: Progress = lambda done, total: None) -> list[External]:
        """Return and journal what changed from outside since the last run.

        The lock is let go between batches, so that nobody waits for all of a large copy.

        Args:
            progress: called with how many files of how many were looked at.
        """
        with self._locks.hold("reconcile", op="reconcile"):
            old, seen = self._load_snapshot(), self._look_around()
            gone, pending = self._list_changed(old, seen.files)
            if not pending and not gone:
                return []
            run = _Run(old, seen.at_ns, len(pending) + len(gone), self._journal.born())
            # What is gone comes first: a file that is new may be one of these, renamed.
            first, *more = [*batched(gone, BATCH), *batched(pending, BATCH)]
            self._compare_batch(run, first)
        for paths in more:
            progress(run.done, run.total)
            with self._locks.hold("reconcile", op="reconcile"):
                self._compare_batch(run, paths)
        with self._locks.hold("reconcile", op="reconcile"):
            self._finish_run(run, (*pending, *gone))
        progress(run.total, run.total)
        return run.found

    def find(self) -> list[Entry]:
        """Return what changed from outside, with what it counts for, and note nothing of it."""
        with self._locks.hold("reconcile", op="reconcile"):
            old, seen = self._load_snapshot(), self._look_around()
            gone, pending = self._list_changed(old, seen.files)
            run = _Run(old, seen.at_ns, 0, self._journal.born())
            marks = self._journal.known()
            looked_at = [*gone, *pending]
            found = [one for path in looked_at if (one := self._compare_file(path, run, marks))]
            edited = {one.path for one in found}
            self._note_looks(run, [path for path in looked_at if path not in edited])
        return [self._journal_entry(one) for one in found]

    def _list_changed(
        self, old: Mapping[str, Seen], files: Stats
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Return the files that are gone, and those that look otherwise than when last seen."""
        gone = [path for path in old if path not in files]
        known = self._journal.known().items()
        # Written by us since the last comparison, and then deleted by somebody.
        gone += [p for p, mark in known if mark and p not in files and p not in old]
        return sorted(gone), sorted(_changed_files(old, files))

    def note(self, paths: Sequence[str]) -> None:
        """Journal what changed from outside in some files, whose locks the caller holds."""
        run = _Run(self._load_snapshot(), time.time_ns(), len(paths), self._journal.born())
        marks = self._journal.known()
        found = [self._compare_file(path, run, marks) for path in paths]
        self._journal_changes([one for one in found if one is not None])

    def seen_mark(self, path: str) -> str:
        """Return the hash a file had at the last comparison, empty if unknown."""
        seen = self._load_snapshot().get(path)
        return seen[3] if seen is not None else ""

    def _compare_batch(self, run: _Run, paths: Sequence[str]) -> None:
        """Look at some files while nobody else of us can write them."""
        with self._locks.writing(paths, op="reconcile"):
            marks = self._journal.known()
            found = [self._compare_file(path, run, marks) for path in paths]
            changed = [one for one in found if one is not None and one.kind != "deleted"]
            self._journal_changes(changed)
        run.found += changed
        run.lost |= {one.before: one for one in found if one is not None and one.kind == "deleted"}
        run.done += len(paths)

    def _finish_run(self, run: _Run, looked_at: Iterable[str]) -> None:
        """Journal what is gone for good, and keep how the files looked."""
        marks = self._journal.known()
        # Between two batches another process may have noted it, or written the file anew.
        lost = [one for one in run.lost.values() if run.expected(one.path, marks) == one.before]
        self._journal_changes(lost)
        run.found += lost
        self._note_looks(run, looked_at)
        self._news += run.total
        # Without it, the next process only compares these files again.
        if not run.old or worth_writing(self._news, len(run.old)):
            body = json.dumps(self._seen, ensure_ascii=False).encode()
            self._save(SNAPSHOT, self._journal.sign(body) + b"\n" + body)
            self._news = 0

    def _note_looks(self, run: _Run, looked_at: Iterable[str]) -> None:
        seen = dict(self._load_snapshot())
        for path in looked_at:
            look = run.new.get(path)
            if look is None:
                seen.pop(path, None)
            else:
                seen[path] = _mark_if_racy(look, run.at_ns)
        self._seen = seen

    def _compare_file(self, path: str, run: _Run, marks: Mapping[str, str]) -> External | None:
        seen = run.old.get(path)
        look, content = self._stat_and_read(path)
        before = run.expected(path, marks)
        if path not in marks and seen is None and look is not None:
            before = ADOPTED if look.st_ctime_ns < run.born else ""
        after = "" if content is None else digest(content)
        if content is not None and look is not None:
            run.new[path] = (*signature(look), after)
        if (content is None and not before) or _is_expected_content(content, before, seen):
            return None
        external = _classify_change(path, before, after)
        if external.kind != "created":
            return external
        # By content: a name says nothing, and the mark of a grown file is no hash.
        twin = run.lost.pop(after, None) or run.lost.pop(mark_of(content or b""), None)
        if twin is None:
            return external
        return External(path, "renamed", twin.before, after, twin.path, external.flag)

    def _stat_and_read(self, path: str) -> tuple[stat_result | None, bytes | None]:
        try:
            with self._tree.place(path) as place:
                look = self._tree.disk.stat(place.name, place.folder)
                return look, self._tree.read_place(place, path)
        except (FileNotFoundError, UnsafePathError):
            # What became a link is as good as removed: we do not follow it.
            return None, None

    def _journal_changes(self, found: Sequence[External]) -> None:
        self._note([self._journal_entry(one) for one in found], _OUTSIDER)

    def _journal_entry(self, one: External) -> Entry:
        """Return the record of a change, with what its content counts for."""
        entry = Entry(one.kind, one.path, one.before, one.after, was=one.was)
        last = self._journal.last(one.was) if one.was else None
        if last is not None:
            return entry._replace(origin=last.origin)  # What waits goes on waiting.
        return self.judge(entry)

    def judge(self, entry: Entry) -> Entry:
        """Return the record of an edit with what the content of its file counts for."""
        look, content = self._stat_and_read(entry.path)
        if look is None or content is None or digest(content) != entry.after:
            return entry
        return self._judge_entry(entry, content, look)

    def _load_snapshot(self) -> dict[str, Seen]:
        if self._seen is None:
            try:
                mark, _, body = self._tree.read(SNAPSHOT).partition(b"\n")
            except (FileNotFoundError, UnsafePathError):
                mark, body = b"", b""
            ours = hmac.compare_digest(mark, self._journal.sign(body))
            document = json.loads(body) if ours else {}
            self._seen = {path: _parse_seen(seen) for path, seen in document.items()}
        return self._seen


def batched(paths: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield paths in pieces of a size."""
    for first in range(0, len(paths), size):
        yield paths[first : first + size]


def _parse_seen(seen: list[int | str]) -> Seen:
    size, changed, inode, content = seen
    return int(size), int(changed), int(inode), str(content)


def _changed_files(seen: Mapping[str, Seen], found: Stats) -> list[str]:
    """Return the files that do not look as they were seen."""
    # Nearly all do, and there are many: no call for each.
    return [
        path for path, look in found.items() if (was := seen.get(path)) is None or was[:3] != look
    ]


def _mark_if_racy(seen: Seen, begun: int) -> Seen:
    """Return what is safe to compare with: a file this fresh may change within its time stamp."""
    return (seen[0], -1, *seen[2:]) if seen[1] > begun - _RACY_NS else seen


def _is_expected_content(content: bytes | None, before: str, seen: Seen | None) -> bool:
    if content is None:
        return False
    if before == ADOPTED:
        return True
    if not is_mark(before):
        return digest(content) == before
    # The mark covers the last line alone; what was seen before it must be as it was.
    whole = seen is None or seen[0] > len(content) or digest(content[: seen[0]]) == seen[3]
    return whole and mark_of(content) == before


def _classify_change(path: str, before: str, after: str) -> External:
    flag = "sync-conflict" if ".sync-conflict-" in path else ""
    if not after:
        return External(path, "deleted", before, "", flag=flag)
    return External(path, "edited" if before else "created", before, after, flag=flag)
