"""The memory folder as it was last seen, looked at again with few calls.

A whole scan asks for every file. Between two of them, a folder whose own time stands
still has lost and gained no file; what was edited in place there is found by the next
scan. Looking takes at most a tenth of the time: a memory that is scanned in a moment
is scanned every time, a large one when ten times as long has passed, or on request.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from kimi_memory.index.files import archived_twice, changed_at, is_searchable, traces
from kimi_memory.index.pause import uncollected
from kimi_memory.store.files.stat import Listed, Stat, list_folder, state_of, walk

CHEAP_SECONDS = 0.02
"""A whole scan up to this long is made at every look."""
# Which bounds the share of looking: a tenth of the time, however large the memory is.
SHARE = 10
"""A look is made again when so many times its own duration has passed."""
RARER = 3
"""Folders are asked for their time so many times more seldom: every question would pay for it."""
OPEN = "short-term/"
"""Sessions grow in place: their folder is listed at every look."""


class Folder:
    """Searchable files and their state, in step with the disk."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._listed: dict[str, Listed] = {}
        self._due = self._glance_due = 0.0
        self._traces: tuple[int, ...] = ()
        self.stats: dict[str, Stat] = {}
        self.patience = 0.0
        """Seconds until all files are looked at again, where somebody tells what changes."""

    def scan(self) -> None:
        """Look at every file."""
        self._glance_due = 0.0
        self._traces = traces(self._root)  # First: what is written from here on is seen later.
        began = time.monotonic()
        with uncollected():
            self._listed = dict(walk(self._root, "", is_searchable))
            self.stats = {}
            for listed in self._listed.values():
                self.stats.update(listed.files)
        now = time.monotonic()
        cheap = now - began < CHEAP_SECONDS
        pause = max(self.patience, 0.0 if cheap else SHARE * (now - began))
        self._due = now + pause if pause else 0.0
        self._drop_duplicate_sessions()

    def look(self, hints: Iterable[str] = ()) -> set[str] | None:
        """Look again; return the paths that changed, None when any may have."""
        began = time.monotonic()
        written = self._has_new_writes()
        if began >= self._due:
            self.scan()
            return None
        # Hints of a file watcher may be missing (54 of 200 edits in a test), so they only hasten a
        # look.
        changed = {path for path in hints if self._check_file(path)} | self._relist_folder(OPEN)
        if written or began >= self._glance_due:
            changed |= self._list_changed_folders()
            now = time.monotonic()
            self._glance_due = now + RARER * SHARE * (now - began)
        if any(path.endswith(".jsonl") for path in changed):
            changed |= self._drop_duplicate_sessions()
        return changed

    def _drop_duplicate_sessions(self) -> set[str]:
        """Pass by sessions that stand in two folders, but for their archived copy."""
        twice = archived_twice(path for path in self.stats if path.endswith(".jsonl"))
        for path in twice:
            del self.stats[path]
        return twice

    def _has_new_writes(self) -> bool:
        """Whether a process of ours wrote into the memory since the last look."""
        before, self._traces = self._traces, traces(self._root)
        return before != self._traces

    def _list_changed_folders(self) -> set[str]:
        """List the folders whose time is not that of their last listing."""
        changed: set[str] = set()
        for folder, listed in list(self._listed.items()):
            # A folder's own time changes when a file comes, goes or is put in its place, as we
            # write.
            if changed_at(f"{self._root}/{folder}") != listed.at:
                changed |= self._relist_folder(folder)
        return changed

    def _relist_folder(self, folder: str) -> set[str]:
        """List a folder and those new in it; return paths that came, went or changed."""
        listed = list_folder(self._root, folder, is_searchable)
        before = self._listed.get(folder)
        held = before.files if before else {}
        if listed is None:
            self._listed.pop(folder, None)
            for path in held:
                self.stats.pop(path, None)
            return set(held)
        self._listed[folder] = listed
        changed = {path for path, stat in listed.files.items() if self.stats.get(path) != stat}
        changed |= held.keys() - listed.files.keys()
        for path in changed:
            self._record_state(path, listed.files.get(path))
        # A new folder may have come with files in it.
        for inner in listed.folders:
            if inner not in self._listed:
                changed |= self._relist_folder(inner)
        return changed

    def _record_state(self, path: str, stat: Stat | None) -> None:
        if stat is None:
            self.stats.pop(path, None)
        else:
            self.stats[path] = stat

    def _check_file(self, path: str) -> bool:
        """Look at one file; return whether it changed."""
        found = state_of(self._root, path)
        if not is_searchable(path) or self.stats.get(path) == found:
            return False
        self._record_state(path, found)
        return True
