"""Reconciling: what changed in the folder without the store being asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import stat_result
from typing import Literal, NamedTuple

from kimi_memory.errors import UnsafePathError
from kimi_memory.model.actor import Actor
from kimi_memory.model.change import digest
from kimi_memory.store.derived import worth_writing
from kimi_memory.store.glance import Looks
from kimi_memory.store.journal import EXTERNAL, Entry, Journal
from kimi_memory.store.locks import Locks
from kimi_memory.store.paths import PRIVATE
from kimi_memory.store.signature import Stat, Stats, signature
from kimi_memory.store.tail import is_mark, mark_of
from kimi_memory.store.tree import Tree

SNAPSHOT = f"{PRIVATE}/snapshot.json"
_RACY_NS = 50_000_000
_OUTSIDER = Actor(name=EXTERNAL)
ADOPTED = "adopted"
"""Stands for the content of a file that was there before the journal."""

Kind = Literal["created", "edited", "renamed", "deleted"]
Seen = tuple[int, int, int, str]
"""Size, ctime in ns, inode, and SHA-256 of a file when it was last looked at.

An editor, or whoever wants to go unseen, can set the time of modification back.
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


class Reconciler:
    """Compares the folder with what the store last saw and wrote itself."""

    def __init__(
        self,
        tree: Tree,
        locks: Locks,
        journal: Journal,
        save: Callable[[str, bytes], None],
        look: Callable[[], Looks],
    ) -> None:
        self._tree, self._locks, self._journal, self._save = tree, locks, journal, save
        self._look_around = look
        self._seen: dict[str, Seen] | None = None
        self._news = 0

    def run(self) -> list[External]:
        """Return and journal what changed from outside since the last run."""
        with self._locks.hold("reconcile", op="reconcile"):
            return self._run()

    def _run(self) -> list[External]:
        old = self._load()
        seen = self._look_around()
        pending = _otherwise(old, seen.files)
        gone = [path for path in old if path not in seen.files]
        known = self._journal.known().items()
        gone += [p for p, mark in known if mark and p not in seen.files and p not in old]
        if not pending and not gone:
            return []
        fresh: dict[str, Seen] = {}
        found = self._compare(sorted(gone), sorted(pending), old, fresh)
        steady = {path: _steady(look, seen.at_ns) for path, look in fresh.items()}
        self._seen = dict(old)
        for path in (*pending, *gone):
            self._seen.pop(path, None)
        self._seen |= steady
        self._news += len(pending) + len(gone)
        if not old or worth_writing(self._news, len(old)):
            self._save(SNAPSHOT, json.dumps(self._seen, ensure_ascii=False).encode())
            self._news = 0
        return found

    def _compare(
        self, gone: list[str], pending: list[str], old: Mapping[str, Seen], new: dict[str, Seen]
    ) -> list[External]:
        found = [self._examine(path, old.get(path), new, {}) for path in gone]
        lost = {e.before: e for e in found if e is not None and e.kind == "deleted"}
        found = [e for e in found if e is not None and e.kind != "deleted"]
        found += [self._examine(path, old.get(path), new, lost) for path in pending]
        for external in lost.values():
            self._note(external)
        return [e for e in (*found, *lost.values()) if e is not None]

    def _examine(
        self, path: str, seen: Seen | None, new: dict[str, Seen], lost: dict[str, External]
    ) -> External | None:
        """Look at one file while nobody else of us can write it."""
        with self._locks.hold("store", shared=True), self._locks.stripes([path], op="reconcile"):
            look, content = self._content(path)
            before = self._expected(path, seen, look)
            after = "" if content is None else digest(content)
            if content is not None and look is not None:
                new[path] = (*_look(signature(look)), after)
            if (content is None and not before) or _matches(content, before, seen):
                return None
            external = _judge(path, before, after)
            if external.kind == "deleted":
                return external
            twin = lost.pop(after, None) or lost.pop(mark_of(content or b""), None)
            if twin is not None and external.kind == "created":
                external = External(path, "renamed", twin.before, after, twin.path, external.flag)
            self._note(external)
            return external

    def _content(self, path: str) -> tuple[stat_result | None, bytes | None]:
        try:
            with self._tree.place(path) as place:
                look = self._tree.disk.stat(place.name, place.folder)
                return look, self._tree.read_place(place, path)
        except (FileNotFoundError, UnsafePathError):
            return None, None

    def _expected(self, path: str, seen: Seen | None, look: stat_result | None) -> str:
        """Return the content mark the file should have; what was there first is taken as it is."""
        mark = self._journal.mark_of(path)
        if mark is not None:
            return mark
        if seen is not None:
            return seen[3]
        return ADOPTED if look is not None and look.st_ctime_ns < self._journal.born() else ""

    def _note(self, external: External) -> None:
        origin = self._journal.origin_of(external.was) if external.was else ""
        entry = Entry(
            external.kind,
            external.path,
            external.before,
            external.after,
            was=external.was,
            origin=origin,
        )
        self._journal.add([entry], _OUTSIDER)

    def _load(self) -> dict[str, Seen]:
        if self._seen is None:
            try:
                document = json.loads(self._tree.read(SNAPSHOT))
                self._seen = {path: _row(seen) for path, seen in document.items()}
            except (FileNotFoundError, UnsafePathError, ValueError, AttributeError, TypeError):
                self._seen = {}
        return self._seen


def _row(seen: list[int | str]) -> Seen:
    size, changed, inode, content = seen
    return int(size), int(changed), int(inode), str(content)


def _otherwise(seen: Mapping[str, Seen], found: Stats) -> list[str]:
    """Return the files that do not look as they were seen."""
    # Nearly all do, and there are many: no call for each.
    return [
        path
        for path, look in found.items()
        if (was := seen.get(path)) is None
        or was[1] != look[2]
        or was[0] != look[0]
        or was[2] != look[3]
    ]


def _look(found: Stat) -> tuple[int, int, int]:
    size, _, changed, inode = found
    return size, changed, inode


def _steady(seen: Seen, begun: int) -> Seen:
    """Return what is safe to compare with: a file this fresh may change within its time stamp."""
    return (seen[0], -1, *seen[2:]) if seen[1] > begun - _RACY_NS else seen


def _matches(content: bytes | None, before: str, seen: Seen | None) -> bool:
    if content is None:
        return False
    if before == ADOPTED:
        return True
    if not is_mark(before):
        return digest(content) == before
    whole = seen is None or seen[0] > len(content) or digest(content[: seen[0]]) == seen[3]
    return whole and mark_of(content) == before


def _judge(path: str, before: str, after: str) -> External:
    flag = "sync-conflict" if ".sync-conflict-" in path else ""
    if not after:
        return External(path, "deleted", before, "", flag=flag)
    return External(path, "edited" if before else "created", before, after, flag=flag)
