"""The files recall reads, and how they looked when we last did."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kimi_memory.index.pause import uncollected
from kimi_memory.store.files.paths import PRIVATE, is_conflict_copy, is_truth
from kimi_memory.store.standing import Served

if TYPE_CHECKING:
    from kimi_memory.store.wal.journal import Journal

INDEX = f"{PRIVATE}/index"
"""The folder of an index."""
CURRENT = "CURRENT"
"""The file in it that names the generation in use."""
TABLE = "table"
"""The folder of a generation that holds its table."""
SESSION = re.compile(r"(?:short-term|episodic/sessions/.+)/session_[^/]+\.jsonl")
APART = ("episodic/sessions/", "review/", "conflicts/")
"""Folders whose pages are not searched."""


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


class Stat(NamedTuple):
    """What tells an unchanged file from a changed one without reading it.

    A tuple: one is made for every file at every look.
    """

    size: int
    ctime_ns: int
    """When it changed last by the system's own account, which nobody can set back."""
    inode: int


class Listed(NamedTuple):
    """One folder as it was listed."""

    at: int
    """When the folder itself had changed last; 0 where that may not be relied on."""
    files: dict[str, Stat]
    """Searchable files by path."""
    folders: list[str]
    """Paths of folders in it, each with a slash at the end."""


_TRACES = ("tmp", "txn", "journal")
"""Folders that change when a process of ours writes."""
YOUNG_NS = 2_000_000_000
"""A folder that changed so shortly before it was listed may change within the same tick."""


def scan(root: Path) -> dict[str, Stat]:
    """Return the searchable files below `root`, in no order.

    A session that stands both in short-term and in the archive (a move that was cut
    short) counts once, as archived.
    """
    found: dict[str, Stat] = {}
    with uncollected():
        for _, listed in walk(str(root), ""):
            found.update(listed.files)
    for path in archived_twice(path for path in found if path.endswith(".jsonl")):
        del found[path]
    return found


def archived_twice(sessions: Iterable[str]) -> set[str]:
    """Return the open sessions that stand in the archive too."""
    paths = list(sessions)
    archived = {_name(path) for path in paths if path.startswith("episodic/")}
    return {path for path in paths if path.startswith("short-term/") and _name(path) in archived}


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def walk(root: str, folder: str) -> Iterator[tuple[str, Listed]]:
    """Yield a folder and all below it; paths of folders end with a slash, the root is empty."""
    pending = [folder]
    while pending:
        path = pending.pop()
        listed = list_folder(root, path)
        if listed is not None:
            yield path, listed
            pending += listed.folders


def list_folder(root: str, folder: str) -> Listed | None:
    """Return what lies in one folder, None when it cannot be listed."""
    files: dict[str, Stat] = {}
    folders: list[str] = []
    try:
        at = os.stat(f"{root}/{folder}").st_mtime_ns  # noqa: PTH116  a Path costs twice the call
        entries = os.scandir(f"{root}/{folder}")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    with entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{folder}{name}/")
            elif is_searchable(path := folder + name) and entry.is_file(follow_symlinks=False):
                try:
                    seen = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # It went while we looked.
                files[path] = Stat(seen.st_size, seen.st_ctime_ns, seen.st_ino)
    return Listed(at if time.time_ns() - at > YOUNG_NS else 0, files, folders)


def is_searchable(path: str) -> bool:
    """Whether recall reads this file: a session's turns, or a page outside the archive."""
    if path.endswith(".md"):
        return not path.startswith(APART) and (not is_odd(path) or _is_read(path))
    return path.endswith(".jsonl") and SESSION.fullmatch(path) is not None and _is_read(path)


def _is_read(path: str) -> bool:
    return is_truth(path) and not is_conflict_copy(path)


_ODD = ("#", "~", ".tmp", ".sb-", "onflict", "冲突")


def is_odd(path: str) -> bool:
    """Whether a path may be a temporary file or a conflict copy; only such are looked at twice."""
    return any(mark in path for mark in _ODD)


def traces(root: str) -> tuple[int, ...]:
    """Return what is another one after a process of ours wrote into the memory."""
    return tuple(changed_at(f"{root}/{PRIVATE}/{name}") for name in _TRACES)


def changed_at(folder: str) -> int:
    """Return when files of a folder came or went last, in ns; -1 where it is not there."""
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116  a Path costs twice the call
    except OSError:
        return -1


def state_of(root: Path | str, path: str) -> Stat | None:
    """Return the state of one file, None where there is none."""
    try:
        seen = os.lstat(f"{root}/{path}")
    except OSError:
        return None
    return Stat(seen.st_size, seen.st_ctime_ns, seen.st_ino)
