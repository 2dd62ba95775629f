"""What we know of the last commit and of the files it was made from.

Derived, under ``.kimi/``: it only spares reading files that did not change, and is
thrown away when it does not carry its own sum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kimi_memory.store.files.cache_files import put, worth_writing
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats, signature

_FORMAT = 4


class Entry(NamedTuple):
    """One path of the last commit; ten thousand are made per commit, hence no dataclass."""

    mode: str
    blob: str
    stat: Stat = UNKNOWN
    """The file that had this content when we last looked."""


@dataclass(slots=True)
class Cache:
    """The last commit as we left it."""

    head: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    index: Stat = UNKNOWN
    """How the person's index looked when it held this commit and nothing else."""


class CacheFile:
    """The cache on disk, and what this process knows beyond it.

    To write ten thousand rows for a handful of changes would cost more than the commit,
    so few are kept in memory until there are more, or until `save`. Who finds the file
    behind the branch reads the tree of the branch instead, see `carry`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cache, self._stat, self._news = Cache(), UNKNOWN, 0

    def load(self) -> Cache:
        """Return what is known; the file is read where it is another than last time."""
        found = self._file_signature()
        if found != self._stat:
            self._cache, self._news = load_cache(self._path), 0
            self._stat = found if self._cache.head else UNKNOWN
        return self._cache

    def keep(self, cache: Cache, news: int) -> None:
        """Replace the cache, by `news` new rows; write the file once many are not in it."""
        self._cache, self._news = cache, self._news + news
        unsaved = self._news and self._stat == UNKNOWN
        if unsaved or worth_writing(self._news, len(cache.entries)):
            self._write_cache()

    def save(self) -> None:
        """Write what is not in the file, unless it was written or removed by another process.

        What was purged there must not come back from here.

        Raises:
            HistoryError: it could not be written.
        """
        # Another process wrote meanwhile and knows more; the commit itself is not in doubt.
        if self._news and self._file_signature() == self._stat:
            self._write_cache()

    def _write_cache(self) -> None:
        save_cache(self._path, self._cache)
        self._stat, self._news = self._file_signature(), 0

    def _file_signature(self) -> Stat:
        try:
            return signature(self._path.stat())
        except OSError:
            # None was written yet, or it was purged.
            return UNKNOWN


def load_cache(path: Path) -> Cache:
    """Return the cache, empty when there is none or it is damaged."""
    try:
        mark, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return Cache()
    # A damaged row would let a changed file look unchanged, and a commit leave it out.
    if mark != hashlib.sha256(body).hexdigest().encode():
        return Cache()
    try:
        form, head, index, rows = json.loads(body)
        entries = {r[0]: Entry(str(r[1]), str(r[2]), tuple(r[3:])) for r in rows}
    except (ValueError, TypeError, LookupError):
        # It can be made anew from git, so its faults are nobody's business.
        return Cache()
    return Cache(str(head), entries, tuple(index)) if form == _FORMAT else Cache()


def save_cache(path: Path, cache: Cache) -> None:
    """Keep the cache; it is written whole or not at all."""
    rows = [(path, e.mode, e.blob, *e.stat) for path, e in cache.entries.items()]
    body = json.dumps([_FORMAT, cache.head, cache.index, rows], separators=(",", ":")).encode()
    put(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def behind(cache: Cache, looks: Stats) -> set[str]:
    """Return the paths that may differ from the commit, by how all files looked."""
    entries = cache.entries
    changed = {
        path
        for path, stat in looks.items()
        # What cannot be known from a look is read.
        if path not in entries or stat == UNKNOWN or entries[path].stat != stat
    }
    return changed | (entries.keys() - looks.keys())


def carry(old: Mapping[str, Entry], fresh: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return fresh entries with the signatures we know of where the content is the same."""
    known = {path: entry.stat for path, entry in old.items()}
    return {
        path: entry._replace(stat=known[path])
        if path in old and old[path].blob == entry.blob
        else entry
        for path, entry in fresh.items()
    }
