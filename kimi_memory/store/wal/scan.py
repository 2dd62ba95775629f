"""A glance: one look at the folder, shared by the steps of one piece of work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from stat import S_ISREG
from typing import NamedTuple

from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.paths import is_kept
from kimi_memory.store.files.stat import Stat, Stats, settled_stat, signature
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


class Glance:
    """Looks at a folder, again and again or, inside of `hold`, only at what was written.

    What others write meanwhile without asking the store is seen a moment later, as if it
    had been written then.
    """

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self._tree, self._journal = tree, journal
        self._mine = threading.local()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Walk the folder but once in a while until the end of the block, in this thread."""
        outer = self._is_holding
        self._mine.holding = True
        try:
            yield
        finally:
            self._mine.holding = outer
            if not outer:
                self.drop()

    def drop(self) -> None:
        """Walk the folder again at the next look."""
        self._mine.looks = None

    def look(self) -> Looks:
        """Return how all files look."""
        last: Looks | None = getattr(self._mine, "looks", None)
        # The journal first: what is written during the walk is looked at again.
        extent, now = self._journal.extent(), time.time_ns()
        if last is not None and last.extent <= extent and 0 <= now - last.at_ns < _HELD_NS:
            found = self._renew_looks(last, extent)
        else:
            files = {path: settled_stat(stat, now) for path, stat in self._tree.walk()}
            found = Looks(now, extent, files)
        if self._is_holding:
            self._mine.looks = found
        return found

    @property
    def _is_holding(self) -> bool:
        return getattr(self._mine, "holding", False)

    def _renew_looks(self, last: Looks, extent: Extent) -> Looks:
        """Return the looks with what was journaled since."""
        if extent == last.extent:
            return last
        files = dict(last.files)
        written = self._journal.records(after=last.extent)
        for path in {str(one[name]) for one in written for name in ("path", "was") if name in one}:
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
            return None
        walked = S_ISREG(found.st_mode) and is_kept(path)
        return signature(found) if walked else None
