"""What a turn of a conversation brings that was not said just before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kimi_memory.index.searcher import Floats, Searcher
from kimi_memory.recall.conversation import dialogue

BACK = 4
"""So many turns before one count as just before."""
POWER = 0.4
LEAST = 0.05
"""What a turn counts as bringing that only repeats."""


def fresh(searcher: Searcher, rows: Sequence[int]) -> Floats:
    """Return a factor for each row: of a list, the turns that bring something are the items.

    Only some rows are looked at, because each must be read with those before it; the others
    keep 1, and so does what is no turn of a conversation.

    Args:
        searcher: the memory.
        rows: rows to look at.
    """
    known = searcher.once("fresh", lambda: np.full(len(searcher), np.nan))
    talk, said = dialogue(searcher), dict[int, frozenset[str]]()
    for row in rows:
        if np.isnan(known[row]):
            known[row] = _novelty_factor(searcher, row, said) if talk[row] else 1.0
    factor = np.ones(len(searcher))
    factor[rows] = known[rows]
    return factor


def _novelty_factor(searcher: Searcher, row: int, said: dict[int, frozenset[str]]) -> float:
    words = _row_words(searcher, row, said)
    before = frozenset[str]().union(
        *(
            _row_words(searcher, other, said)
            # Only just before: the same thing said on another day is an item of its own.
            for other in range(max(0, row - BACK), row)
            if searcher.file[other] == searcher.file[row]
        )
    )
    share = len(words - before) / len(words) if words else 0.0
    # A power below 1: what is half new loses a quarter, not half.
    return float(max(share, LEAST) ** POWER)


def _row_words(searcher: Searcher, row: int, said: dict[int, frozenset[str]]) -> frozenset[str]:
    if row not in said:
        said[row] = frozenset(searcher.words.split(searcher.text(row)))
    return said[row]
