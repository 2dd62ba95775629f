"""The files that recall reads, and where an index lies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

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
        or "onflict" in path or "冲突" in path
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
