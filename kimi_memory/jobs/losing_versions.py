"""Losing versions that a sync tool left: each is merged by its values into the file beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kimi_memory.domain.job import Change, Delete, digest
from kimi_memory.jobs.merging import join_files, list_changes
from kimi_memory.merge.kinds import Kind, has_id, kind_of, read_text
from kimi_memory.merge.lines import common_lines
from kimi_memory.merge.trees import Tree
from kimi_memory.store.files.paths import is_conflict_copy, path_without_conflict
from kimi_memory.store.git.history import History
from kimi_memory.store.store import Store

_VERSIONS = 50
"""So many earlier versions of a file are looked at."""


class LosingVersion(NamedTuple):
    """A version that a sync tool left, and the file that it lost against."""

    path: str
    original: str


def find_losing(store: Store) -> list[LosingVersion]:
    """Return the losing versions whose file is still there."""
    files = store.files()
    there, found = set(files), filter(is_conflict_copy, files)
    pairs = (LosingVersion(path, path_without_conflict(path)) for path in found)
    return [pair for pair in pairs if pair.original in there]


def merge_losing(
    store: Store, history: History, losing: LosingVersion
) -> tuple[list[Change], Tree]:
    """Return what brings a losing version into its file and removes it, and the merged files."""
    theirs, now = store.read(losing.path), store.read(losing.original)
    base = _find_base(history, losing.original, theirs, now) or _shared(
        losing.original, theirs, now
    )
    sides = ({losing.original: one} if one is not None else {} for one in (base, now, theirs))
    here, merged = join_files(store, *sides)
    changes = list_changes(here, merged.files)
    return [*changes, Delete(losing.path, digest(theirs))], merged.files


def _find_base(history: History, path: str, theirs: bytes, now: bytes) -> bytes | None:
    """Return the earlier version that a losing one was most likely made of; None for none.

    Either of both may have been here before it lost or won: those are no base.
    """
    earlier = [one for one in _read_earlier(history, path) if one not in (theirs, now)]
    return min(earlier, key=lambda one: _distance(one, theirs), default=None)


def _shared(path: str, theirs: bytes, now: bytes) -> bytes | None:
    """Return the lines that both versions of a text have; None where it is no plain text.

    What only one of them has was added then: both additions stay.
    """
    texts = [read_text(one) for one in (theirs, now)]
    kinds = {kind_of(path, one) for one in (theirs, now)}
    plain = len(kinds) == 1 and kinds < {Kind.TEXT, Kind.PAGE}
    if not plain or any(text is None or has_id(text) for text in texts):
        return None
    one, other = ((text or "").splitlines(keepends=True) for text in texts)
    return "".join(common_lines(one, other)).encode()


def _read_earlier(history: History, path: str) -> Iterator[bytes]:
    """Yield the last versions of a file, the newest first."""
    blobs = list(dict.fromkeys(one.blob for one in history.versions(path)))[:_VERSIONS]
    contents = history.blobs(blobs)
    return (contents[blob] for blob in blobs)


def _distance(one: bytes, other: bytes) -> int:
    """Return how many lines only one of two versions has."""
    first, second = Counter(one.splitlines()), Counter(other.splitlines())
    return (first - second).total() + (second - first).total()
