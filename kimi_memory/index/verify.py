"""Checks of an index: whether it agrees with the files, and its digest.

The same files give the same digest, however the index came to be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict
from heapq import merge
from itertools import groupby

import numpy as np

from kimi_memory.domain.health import Finding, Severity
from kimi_memory.index.searcher import Ints, Searcher
from kimi_memory.lazy_dataclass import dataclass

# Where one thing is wrong, thousands are; the remedy is the same for all.
SHOWN = 5
_REMEDY = "Run 'kimi-memory index --full'"


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a refresh did."""

    added: int
    """Units written."""
    removed: int
    """Files whose units were taken out."""
    units: int
    """Units in the index now."""
    files: int
    broken: tuple[tuple[str, str], ...] = ()
    """Files that cannot be parsed, and why."""
    embedded: int = 0
    """Units with a vector."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands to the files."""

    generation: str
    """Empty when there is none, or none that may be opened."""
    units: int
    files: int
    pending: int
    """Units that differ from the index, which recall reads itself; of many, how many files."""
    model: str = ""
    broken: tuple[tuple[str, str], ...] = ()
    why: str = ""
    """Why the index on disk is not used."""


def damaged(why: str, folder: str) -> Finding:
    """Return what is to be said of an index that is not used."""
    return Finding("index", Severity.WARNING, why, _REMEDY, folder, fixable=True)


def unreadable(path: str, why: str) -> Finding:
    """Return what is to be said of a file that cannot be parsed."""
    return Finding("index", Severity.WARNING, why, "Mend the file", path)


def compare(view: Searcher, whole: Searcher) -> list[Finding]:
    """Compare a view through the index with one read anew from all files.

    Every unit must be in both, and every word must stand in the same units as often.
    """
    # Where units differ, so do their words: those would only repeat it.
    wrong = list(_compare_units(view, whole)) or list(_compare_words(view, whole))
    shown = [Finding("index", Severity.ERROR, why, _REMEDY, fixable=True) for why in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        more = f"{len(wrong) - SHOWN} more differences"
        shown.append(Finding("index", Severity.ERROR, more, _REMEDY, fixable=True))
    return shown


def _compare_units(view: Searcher, whole: Searcher) -> Iterator[str]:
    held, wanted = _living_ids(view), _living_ids(whole)
    for id in sorted(wanted - held):
        yield f"the index lacks {id}"
    for id in sorted(held - wanted):
        yield f"the index holds {id}, which no file does"


def _living_ids(searcher: Searcher) -> set[str]:
    ids = searcher.column("id")
    return {ids[row] for row in searcher.living()}


def _compare_words(view: Searcher, whole: Searcher) -> Iterator[str]:
    for word, _ in groupby(merge(view.vocabulary(), whole.vocabulary())):
        if _sorted_postings(view, word) != _sorted_postings(whole, word):
            yield f"the index is wrong about the word {word!r}"


def _sorted_postings(searcher: Searcher, word: str) -> list[tuple[str, float]]:
    ids, (rows, counts) = searcher.column("id"), searcher.postings(word)
    return sorted((ids[row], float(count)) for row, count in zip(rows, counts, strict=True))


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
    ordered = sorted(view.living(), key=lambda row: int(places[row]))
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
