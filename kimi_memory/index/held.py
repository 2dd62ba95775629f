"""Postings held in memory between questions, within a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Postings = Callable[[str], tuple[Ints, Floats]]

# A server must not grow with each new word that it is asked for.
CACHE_BYTES = 64 * 1024 * 1024
# Rows are kept in 32 bits.
_ROW_BYTES = 4
_OVERHEAD = 200
"""About what a word and its place cost besides the arrays, in bytes."""


class Held(NamedTuple):
    """The postings of a word: rows and counts, or the counts of all rows where those are less."""

    rows: NDArray[np.uint32] | None
    counts: NDArray[Any]

    @classmethod
    def from_rows(cls, rows: Ints, counts: Floats) -> Held:
        """Keep the postings of a word in as few bytes as hold them unchanged."""
        narrow = _narrow_numbers(counts)
        stop = int(rows[-1]) + 1 if len(rows) else 0
        # A frequent word takes less room as a count for every row than as a list of rows and
        # counts.
        if narrow.itemsize > 1 or stop >= len(rows) * (_ROW_BYTES + 1):
            return cls(rows.astype(np.uint32), narrow)
        every = np.zeros(stop, dtype=np.uint8)
        every[rows] = narrow
        return cls(None, every)

    def __call__(self) -> tuple[Ints, Floats]:
        """Return the rows that hold the word, ascending, and how often each does."""
        if self.rows is not None:
            return self.rows.astype(np.int64), self.counts.astype(np.float64, copy=False)
        rows = np.flatnonzero(self.counts)
        return rows, self.counts[rows].astype(np.float64)

    def at(self, rows: Ints) -> Floats:
        """Return how often each of some rows holds the word.

        Args:
            rows: ascending.
        """
        found = np.zeros(len(rows))
        if self.rows is None:
            inside = int(np.searchsorted(rows, len(self.counts)))
            found[:inside] = self.counts[rows[:inside]]
        elif len(self.rows):
            # What would come after the last has its place outside of the array.
            place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            same = self.rows[place] == rows
            found[same] = self.counts[place[same]]
        return found

    @property
    def size(self) -> int:
        """What it takes, in bytes."""
        return self.counts.nbytes + (0 if self.rows is None else self.rows.nbytes) + _OVERHEAD


def _narrow_numbers(numbers: Floats) -> NDArray[Any]:
    """Return the numbers in fewer bytes, where those hold them unchanged."""
    kind: Any
    for kind in (np.uint8, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            small = numbers.astype(kind)
        # A zero would read as "not in this row" where all rows have a count.
        if np.array_equal(small, numbers) and (kind is not np.uint8 or small.all()):
            return small
    return numbers


class Cache:
    """What words hold, least recently used out first."""

    def __init__(self, read: Postings, limit: int = CACHE_BYTES) -> None:
        self._read, self._limit, self._size = read, limit, 0
        self._kept: OrderedDict[str, Held] = OrderedDict()

    def __call__(self, word: str) -> tuple[Ints, Floats]:
        """Return the rows that hold a word, ascending, and how often each does."""
        return self.held(word)()

    def held(self, word: str) -> Held:
        """Return the postings of a word as they are kept."""
        found = self._kept.get(word)
        if found is None:
            found = self._kept[word] = Held.from_rows(*self._read(word))
            self._size += found.size
        self._kept.move_to_end(word)
        # The word that was asked for stays, however much it takes.
        while self._size > self._limit and len(self._kept) > 1:
            self._size -= self._kept.popitem(last=False)[1].size
        return found

    def forget(self) -> None:
        """Drop what is kept."""
        self._kept.clear()
        self._size = 0
