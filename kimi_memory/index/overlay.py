"""The overlay: files the disk index does not hold yet, indexed in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kimi_memory.domain.search_types import Unit
from kimi_memory.index.rows import FileRow
from kimi_memory.index.table import Table
from kimi_memory.store.files.stat import Stat

if TYPE_CHECKING:
    from kimi_memory.domain.engine import Floats, Ints


class Overlay:
    """A table and its postings, grown file by file."""

    def __init__(self) -> None:
        self.table = Table()
        self._postings: dict[str, tuple[list[int], list[int]]] = {}

    def add(
        self, path: str, stat: Stat, digest: str, units: Sequence[Unit], words: list[list[str]]
    ) -> None:
        """Append a file: its units and the words of each."""
        first = len(self.table)
        file = FileRow(path, stat, digest, first, len(units))
        self.table.add(file, units, [len(found) for found in words])
        for row, found in enumerate(words, start=first):
            for word, count in Counter(found).items():
                rows, counts = self._postings.setdefault(word, ([], []))
                rows.append(row)
                counts.append(count)

    def grown(
        self, stat: Stat, digest: str, units: Sequence[Unit], words: Sequence[list[str]]
    ) -> Overlay:
        """Return an overlay whose last file has more units; this one stays as it is."""
        made = Overlay()
        made.table, made._postings = self.table.copy(), dict(self._postings)
        for row, found in enumerate(words, start=len(self.table)):
            for word, count in Counter(found).items():
                rows, counts = made._postings.get(word, ([], []))
                # Copied, not appended to: a view that somebody holds still reads the old lists.
                made._postings[word] = [*rows, row], [*counts, count]
        made.table.extend(stat, digest, units, [len(found) for found in words])
        return made

    def fail(self, path: str, stat: Stat, digest: str, why: str) -> None:
        """Append a file that cannot be parsed, so that it is not tried at every look."""
        self.table.files.append(FileRow(path, stat, digest, len(self.table), 0, why))

    def words(self, begin: str = "") -> list[str]:
        """Return the words that begin so, ascending."""
        return sorted(word for word in self._postings if word.startswith(begin))

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the rows that hold `word`, ascending, and how often each does."""
        rows, counts = self._postings.get(word, ((), ()))
        return np.asarray(rows, dtype=np.int64), np.asarray(counts, dtype=np.float64)
