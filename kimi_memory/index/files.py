"""The files recall reads, and how they looked when we last did."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from kimi_memory.index.pause import uncollected
from kimi_memory.store.paths import is_truth

SESSION = re.compile(r"(?:short-term|episodic/sessions/.+)/session_[^/]+\.jsonl")
_APART = ("episodic/sessions/", "review/", "conflicts/")
_ODD = re.compile(r"[#~]|\.tmp|\.sb-")
"""What the name of an editor's temporary file has; only such names are looked at twice."""


class Files(Protocol):
    """What the index needs of a store."""

    @property
    def root(self) -> Path:
        """The memory folder."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""


class Stat(NamedTuple):
    """What tells an unchanged file from a changed one without reading it.

    A tuple: one is made for every file at every look.
    """

    size: int
    mtime_ns: int
    inode: int


def scan(root: Path) -> dict[str, Stat]:
    """Return the searchable files below `root`, in no order.

    A session that stands both in short-term and in the archive (a move that was cut
    short) counts once, as archived.
    """
    with uncollected():
        found = _walk(str(root))
    sessions = [path for path in found if path.endswith(".jsonl")]
    archived = {_name(path) for path in sessions if path.startswith("episodic/")}
    for path in sessions:
        if path.startswith("short-term/") and _name(path) in archived:
            del found[path]
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _walk(root: str) -> dict[str, Stat]:
    found: dict[str, Stat] = {}
    for path, entry in _entries(root):
        try:
            seen = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        found[path] = Stat(seen.st_size, seen.st_mtime_ns, seen.st_ino)
    return found


def _entries(root: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            entries = os.scandir(f"{root}/{folder}")
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        with entries:
            for entry in entries:
                path = folder + entry.name
                if entry.name[0] == ".":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path + "/")
                elif is_searchable(path) and entry.is_file(follow_symlinks=False):
                    yield path, entry


def is_searchable(path: str) -> bool:
    """Whether recall reads this file: a session's turns, or a page outside the archive."""
    if path.endswith(".md"):
        return not path.startswith(_APART) and (_ODD.search(path) is None or is_truth(path))
    return path.endswith(".jsonl") and SESSION.fullmatch(path) is not None and is_truth(path)
