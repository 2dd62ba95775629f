"""The digest of what an index says: the same files give the same one, however it came to be."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import numpy as np

from kimi_memory.index.searcher import Ints, Searcher


@dataclass(frozen=True, slots=True)
class Digest:
    """What the units and words of a view come to."""

    units: int
    words: int
    """Different words of units that count."""
    sha256: str


def digest(view: Searcher) -> Digest:
    """Return the digest of a view: every field of each unit, and each word's units and counts.

    Order and place of rows, segments, dead rows and overlays leave no trace in it.
    """
    told, places = hashlib.sha256(), _rank_rows(view)
    ordered = _order_rows(view, places)
    held = view.units(ordered)
    for row in ordered:
        # The view answers in the order of its parts, which is another after an update.
        if row in held:
            told.update(repr((asdict(held[row]), float(view.lengths[row]))).encode())
    words = 0
    for word in view.vocabulary():
        rows, counts = view.postings(word)
        if len(rows):
            words += 1
            # By the order of ids: the same rows stand otherwise in every index.
            order = np.argsort(places[rows], kind="stable")
            told.update(f"\0{word}\0".encode())
            told.update(places[rows][order].astype("<i8").tobytes())
            told.update(counts[order].astype("<f8").tobytes())
    return Digest(len(held), words, told.hexdigest())


def _rank_rows(view: Searcher) -> Ints:
    """Return the place of each living row in the order of ids and paths; -1 for dead ones."""
    ids = view.column("id").all()
    rows = sorted(view.living(), key=lambda row: (ids[row], view.path(row)))
    places = np.full(len(view), -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    return places


def _order_rows(view: Searcher, places: Ints) -> list[int]:
    return sorted(view.living(), key=lambda row: int(places[row]))
