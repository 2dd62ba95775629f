"""A glance: one look at the folder, shared by the steps of one piece of work."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from stat import S_ISREG

from kimi_memory.errors import UnsafePathError
from kimi_memory.store.journal import Extent, Journal
from kimi_memory.store.paths import is_plain, is_truth
from kimi_memory.store.tree import Tree


@dataclass(slots=True)
class Looks:
    """How all files of truth looked."""

    at_ns: int
    """When they were first looked at; what was written since was looked at later."""
    extent: Extent
    """How far the journal went then."""
    files: Mapping[str, os.stat_result]


class Glance:
    """Looks at a folder, again and again or, inside of `hold`, only at what was written.

    What others write without asking the store is seen by the next glance, as if it had
    been written a moment later.
    """

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self._tree, self._journal = tree, journal
        self._mine = threading.local()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Walk the folder but once until the end of the block, in this thread."""
        outer = self._holding
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
        found = self._renewed(last) if last is not None else None
        if found is None:
            # The journal first: what is written during the walk is looked at again.
            extent, now = self._journal.extent(), time.time_ns()
            found = Looks(now, extent, dict(self._tree.walk()))
        if self._holding:
            self._mine.looks = found
        return found

    @property
    def _holding(self) -> bool:
        return getattr(self._mine, "holding", False)

    def _renewed(self, last: Looks) -> Looks | None:
        """Return the looks with what was journaled since; None where that cannot be told."""
        extent = self._journal.extent()
        if extent == last.extent:
            return last
        if extent < last.extent:
            return None
        files = dict(last.files)
        written = self._journal.records(after=last.extent)
        for path in {str(one[name]) for one in written for name in ("path", "was") if name in one}:
            found = self._status(path)
            if found is None:
                files.pop(path, None)
            else:
                files[path] = found
        return Looks(last.at_ns, extent, files)

    def _status(self, path: str) -> os.stat_result | None:
        """Return the status of a file that `Tree.walk` would find at a path."""
        if not (is_truth(path) and is_plain(path)):
            return None
        try:
            with self._tree.place(path) as place:
                found = self._tree.disk.stat(place.name, place.folder)
        except (FileNotFoundError, NotADirectoryError, UnsafePathError):
            return None
        return found if S_ISREG(found.st_mode) else None
