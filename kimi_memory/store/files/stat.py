"""Whether files changed: their state, found without reading them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

Stat = tuple[int, int, int]
"""Size, time of the last change in ns, inode: equal means unchanged.

The time is the one that the system keeps for itself: nobody can set it back. A plain tuple,
as one is made for every file at every look.
"""
Stats = Mapping[str, Stat]
"""How files look, by path."""
UNKNOWN: Stat = (0, 0, 0)
"""As no file looks; not below zero, since indexes keep 64 bits without a sign."""
# FAT keeps times in steps of two seconds.
COARSE_NS = 2_000_000_000
# Above a tick of any kernel's clock, which is 10 ms at 100 Hz.
_FINE_NS = 50_000_000


class Listed(NamedTuple):
    """One folder as it was listed."""

    at: int
    """When files of it came or went last; 0 where that may not be relied on."""
    files: dict[str, Stat]
    """The wanted files by path."""
    folders: list[str]
    """Paths of folders in it, each with a slash at the end."""


def signature(found: os.stat_result) -> Stat:
    """Return what tells whether a file is still the one we read."""
    # Not the time of modification: editors, `cp -p` and git set it to whatever they like.
    return found.st_size, found.st_ctime_ns, found.st_ino


def state_of(root: Path | str, path: str) -> Stat | None:
    """Return how a file looks, None where there is none."""
    try:
        return signature(os.lstat(f"{root}/{path}"))
    except OSError:
        return None


def settled_stat(found: Stat, now_ns: int) -> Stat:
    """Return the signature if a later write would change it, else UNKNOWN.

    A write within the same tick of the file system's clock leaves no trace in it.
    Times in whole seconds come from file systems whose tick is long.
    """
    tick = _FINE_NS if found[1] % 1_000_000_000 else COARSE_NS
    return found if found[1] < now_ns - tick else UNKNOWN


def walk(root: str, folder: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Listed]]:
    """Yield a folder and all below it that are not hidden.

    Args:
        root: what all paths are relative to.
        folder: where to begin; empty for the root, else with a slash at the end.
        wanted: tells by its path whether a plain file counts.
    """
    pending = [folder]
    while pending:
        path = pending.pop()
        listed = list_folder(root, path, wanted)
        if listed is not None:
            yield path, listed
            pending += listed.folders


def list_folder(root: str, folder: str, wanted: Callable[[str], bool]) -> Listed | None:
    """Return what lies in one folder, None when it cannot be listed."""
    try:
        # From its folder, the state of a file costs half of what it costs from its path.
        fd = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        at = os.fstat(fd).st_mtime_ns
        files, folders = _list_entries(fd, folder, wanted)
    finally:
        os.close(fd)
    # Within the same tick, more may come into a folder that changed so shortly before.
    return Listed(at if time.time_ns() - at > COARSE_NS else 0, files, folders)


def _list_entries(
    fd: int, folder: str, wanted: Callable[[str], bool]
) -> tuple[dict[str, Stat], list[str]]:
    files: dict[str, Stat] = {}
    folders: list[str] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            path = folder + name
            if not entry.is_file(follow_symlinks=False):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
            elif wanted(path):
                try:
                    files[path] = signature(entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue  # It went while we looked.
    return files, folders
