"""Looking at a folder: how all its files look, walked anew or by what is known of changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from stat import S_ISREG
from typing import NamedTuple

from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.disk import Stat, Stats, settled_stat, signature, uncollected
from kimi_memory.store.files.paths import is_kept
from kimi_memory.store.files.tree import Tree
from kimi_memory.store.wal.journal import Extent, Journal

_HELD_NS = 2_000_000_000
"""So long the work of others may go unseen."""


class Looks(NamedTuple):
    """How all files of truth looked."""

    at_ns: int
    """When they were looked at; what the store wrote since was looked at later."""
    extent: Extent
    """How far the journal went then."""
    files: Stats
    """`UNKNOWN` for what may still be written."""


class FolderScan:
    """Looks at a folder, again and again or, inside of `hold`, only at what was written.

    What others write meanwhile without asking the store is seen a moment later, as if it
    had been written then.
    """

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self._tree, self._journal = tree, journal
        self._mine = threading.local()
        self._guard = threading.Lock()
        self._trusted: Looks | None = None
        self._until_ns, self._hints = 0, set[str]()
        self._holders = set[int]()

    @property
    def is_held(self) -> bool:
        """Whether a thread looks and reads at this moment."""
        return bool(self._holders)

    def hint(self, paths: Iterable[str]) -> None:
        """Have these paths looked at next time, as who saw them change may know."""
        with self._guard:
            self._hints.update(paths)

    def trust(self, seconds: float) -> None:
        """Walk the folder now, and rely on hints for so long inside of `hold`; not at all if 0."""
        with self._guard:
            self._trusted, self._until_ns = None, 0
            # What is reported from here on is looked at again, though the walk may have seen it.
            self._hints.clear()
            # Who looks meanwhile waits for this walk: two at once would take twice as long.
            if seconds > 0:
                self._trusted = self._walk()
                self._until_ns = time.monotonic_ns() + int(seconds * 1e9)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Walk the folder but once in a while until the end of the block, in this thread."""
        outer = self._is_holding
        self._mine.holding = True
        self._holders.add(threading.get_ident())
        try:
            yield
        finally:
            self._mine.holding = outer
            if not outer:
                self._holders.discard(threading.get_ident())
                self.drop()

    def drop(self) -> None:
        """Walk the folder again at the next look."""
        self._mine.looks = None

    def look(self) -> Looks:
        """Return how all files look."""
        last: Looks | None = getattr(self._mine, "looks", None)
        extent, now = self._journal.extent(), time.time_ns()
        # Not if the clock was set back: the look would stay right for as long as that.
        if last is not None and last.extent <= extent and 0 <= now - last.at_ns < _HELD_NS:
            found = self._renew_looks(last, extent)
        else:
            found = self._look_at_hints(extent) if self._is_holding else self._walk()
        if self._is_holding:
            self._mine.looks = found
        return found

    @property
    def _is_holding(self) -> bool:
        return getattr(self._mine, "holding", False)

    def _walk(self) -> Looks:
        # The journal first: what is written during the walk is looked at again.
        extent, now = self._journal.extent(), time.time_ns()
        with uncollected():
            files = {path: settled_stat(stat, now) for path, stat in self._tree.walk()}
        return Looks(now, extent, files)

    def _look_at_hints(self, extent: Extent) -> Looks:
        """Return how files look by what was reported, where that is to be relied on."""
        with self._guard:
            last = self._trusted
            if last is None or time.monotonic_ns() >= self._until_ns or extent < last.extent:
                return self._walk()
            hints, self._hints = self._hints, set()
            # Of a folder that is new, or gone, nobody reports what it holds.
            whole = any(not self._is_file(one) and one not in last.files for one in hints)
            fresh = self._walk() if whole else last
            self._trusted = self._renew_looks(fresh._replace(at_ns=time.time_ns()), extent, hints)
            return self._trusted

    def _is_file(self, path: str) -> bool:
        return not is_kept(path) or self._file_signature(path) is not None

    def _renew_looks(self, last: Looks, extent: Extent, hints: Collection[str] = ()) -> Looks:
        """Return the looks with what was journaled since, or reported."""
        if extent == last.extent and not hints:
            return last
        files = dict(last.files)
        written = self._journal.records(after=last.extent)
        paths = {str(one[name]) for one in written for name in ("path", "was") if name in one}
        for path in paths.union(hints):
            found = self._file_signature(path)
            if found is None:
                files.pop(path, None)
            else:
                files[path] = settled_stat(found, last.at_ns)
        return Looks(last.at_ns, extent, files)

    def _file_signature(self, path: str) -> Stat | None:
        """Return the signature of a file that `Tree.walk` would find at a path."""
        try:
            with self._tree.place(path) as place:
                found = self._tree.disk.stat(place.name, place.folder)
        except (FileNotFoundError, NotADirectoryError, UnsafePathError):
            # It is gone by now, or became a link, which no walk follows.
            return None
        walked = S_ISREG(found.st_mode) and is_kept(path)
        return signature(found) if walked else None
