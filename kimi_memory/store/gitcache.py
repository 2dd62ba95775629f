"""What we know of the last commit and of the files it was made from.

Derived, under ``.kimi/``: it only spares reading files that did not change, and is
thrown away when it does not carry its own sum.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import HistoryError
from kimi_memory.store.gitfiles import Stat

_COARSE_NS = 2_000_000_000
_FINE_NS = 50_000_000
UNKNOWN: Stat = (-1, 0, 0, 0)


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
    index: str = ""
    """SHA-256 of our own index file, which holds the same entries."""
    entries: dict[str, Entry] = field(default_factory=dict)


def load_cache(path: Path) -> Cache:
    """Return the cache, empty when there is none or it is damaged."""
    try:
        mark, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return Cache()
    if mark != hashlib.sha256(body).hexdigest().encode():
        return Cache()
    head, index, rows = json.loads(body)
    return Cache(head, index, {r[0]: Entry(r[1], r[2], tuple(r[3:])) for r in rows})


def save_cache(path: Path, cache: Cache) -> None:
    """Keep the cache; it is written whole or not at all."""
    rows = [(path, e.mode, e.blob, *e.stat) for path, e in cache.entries.items()]
    body = json.dumps([cache.head, cache.index, rows], separators=(",", ":")).encode()
    put(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def put(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Write a derived file under ``.kimi/``, whole or not at all.

    Args:
        path: the file.
        content: all of it.
        sync: whether it must be on disk when we return.

    Raises:
        HistoryError: it could not be written.
    """
    beside = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise HistoryError(
            f"{path} could not be written: {error.strerror}. Free space or make it writable."
        ) from error


def settled(found: Stat, now_ns: int) -> Stat:
    """Return the signature if a later write would change it, else UNKNOWN.

    A write within the same tick of the file system's clock leaves no trace in it.
    Times in whole seconds come from file systems whose tick is long.
    """
    newest = max(found[1], found[2])
    tick = _FINE_NS if found[1] % 1_000_000_000 else _COARSE_NS
    return found if newest < now_ns - tick else UNKNOWN


def carry(old: Mapping[str, Entry], fresh: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return fresh entries with the signatures we know of where the content is the same."""
    known = {path: entry.stat for path, entry in old.items()}
    return {
        path: entry._replace(stat=known[path])
        if path in old and old[path].blob == entry.blob
        else entry
        for path, entry in fresh.items()
    }
