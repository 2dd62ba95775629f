"""A frame: one way of cutting a memory into the documents that BM25 counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kimi_memory.index.searcher import Bools, Floats, Ints

# On labelled questions of both languages, 0.9/0.4 and 1.2/0.75 are within a point of these.
K1 = 1.5
B = 1.0


class Frame(NamedTuple):
    """One way of cutting the memory into documents."""

    documents: int
    """Number of documents."""
    norm: Floats
    """What the length of each does to a word's weight."""

    @classmethod
    def of(cls, lengths: Floats, living: Bools) -> Frame:
        """Return the frame of documents of these lengths."""
        count = int(living.sum())
        mean = float(lengths[living].sum()) / count if count else 1.0
        return cls(count, K1 * (1 - B + B * lengths / (mean or 1.0)))

    def gain(self, rows: Ints, counts: Floats) -> Floats:
        """Return what a word adds to the rows it stands in."""
        return self.weigh(self.rarity(len(rows)), counts, rows)

    def weigh(self, rarity: float, counts: Floats, rows: Ints) -> Floats:
        """Return what a word of some rarity adds to rows that hold it so often."""
        found: Floats = rarity * counts * (K1 + 1) / (counts + self.norm[rows])
        return found

    def rarity(self, df: int) -> float:
        """Return the weight of a word that stands in so many documents."""
        # With the 1, as Lucene has it: a word in more than half of all documents never counts
        # against one.
        return float(np.log(1 + (self.documents - df + 0.5) / (df + 0.5)))
