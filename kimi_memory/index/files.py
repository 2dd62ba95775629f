"""The files that recall reads, looked at again with few calls, and where an index lies.

A whole scan asks for every file. Between two of them, a folder whose own time stands
still has lost and gained no file; what was edited in place there is found by the next
scan. Looking takes at most a tenth of the time: a memory that is scanned in a moment
is scanned every time, a large one when ten times as long has passed, or on request.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kimi_memory.store.files.disk import Listed, Stat, list_folder, state_of, uncollected, walk
from kimi_memory.store.files.paths import PRIVATE, is_conflict_copy, is_truth
from kimi_memory.store.reading import Served

if TYPE_CHECKING:
    from kimi_memory.store.wal.journal import Journal

INDEX = f"{PRIVATE}/index"
"""The folder of an index."""
CURRENT = "CURRENT"
"""The file in it that names the generation in use."""
TABLE = "table"
"""The folder of a generation that holds its table."""
DEAD = "dead"
"""The file beside the segments of a table that says which of their files are gone."""
MAGIC = b"kimi-memory table 1\n"
"""What each segment of a table begins with."""
SESSION = re.compile(r"(?:short-term|episodic/sessions/.+)/session_[^/]+\.jsonl")
# Pages of sessions repeat their turns; the others show what nobody has said yes to.
APART = ("episodic/sessions/", "review/", "conflicts/")
"""Folders whose pages are not searched."""
CHEAP_SECONDS = 0.02
"""A whole scan up to this long is made at every look."""
# Which bounds the share of looking: a tenth of the time, however large the memory is.
SHARE = 10
"""A look is made again when so many times its own duration has passed."""
RARER = 3
"""Folders are asked for their time so many times more seldom: every question would pay for it."""
OPEN = "short-term/"
"""Sessions grow in place: their folder is listed at every look."""


class Files(Protocol):
    """What the index needs of a store."""

    @property
    def root(self) -> Path:
        """The memory folder."""

    @property
    def journal(self) -> Journal:
        """What has the machine's key."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""

    def served(self, path: str) -> Served:
        """Return a file as agents get it."""


_TRACES = ("tmp", "txn", "journal")
"""Folders that change when a process of ours writes."""


def archived_twice(sessions: Iterable[str]) -> set[str]:
    """Return the open sessions that stand in the archive too."""
    paths = list(sessions)
    # A merge of two copies may leave a session open in one place and archived in the other.
    archived = {_file_name(path) for path in paths if path.startswith("episodic/")}
    return {
        path for path in paths if path.startswith("short-term/") and _file_name(path) in archived
    }


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def is_searchable(path: str) -> bool:
    """Whether recall reads this file: a session's turns, or a page outside the archive."""
    if path.endswith(".md"):
        return not path.startswith(APART) and (not _is_odd(path) or _is_read(path))
    # The cheap test first: it is asked for every file of the folder.
    return path.endswith(".jsonl") and SESSION.fullmatch(path) is not None and _is_read(path)


def _is_read(path: str) -> bool:
    return is_truth(path) and not is_conflict_copy(path)


def _is_odd(path: str) -> bool:
    """Whether a path may be a temporary file or a conflict copy; only such are looked at twice."""
    # Asked for every file at every look: a loop over these takes three times as long.
    return (
        "#" in path or "~" in path or ".tmp" in path or ".sb-" in path
        or "onflict" in path or "冲突" in path or "衝突" in path
    )  # fmt: skip


def traces(root: str) -> tuple[int, ...]:
    """Return what is another one after a process of ours wrote into the memory."""
    return tuple(changed_at(f"{root}/{PRIVATE}/{name}") for name in _TRACES)


def changed_at(folder: str) -> int:
    """Return when files of a folder came or went last, in ns; -1 where it is not there."""
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116  a Path costs twice the call
    except OSError:
        return -1


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

    def find_changed(self, hints: Iterable[str] = ()) -> set[str] | None:
        """Look again; return the paths that changed, None when any may have."""
        began = time.monotonic()
        before, self._traces = self._traces, traces(self._root)
        written = before != self._traces
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
