"""The layout of a table: which file, and which sitting, each of its rows is in."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kimi_memory.index.columns import Bools, Floats
from kimi_memory.index.rows import Rows

Ints = NDArray[np.int64]

# Longer than a lunch, shorter than a night.
PAUSE_SECONDS = 6 * 3600
"""A longer pause between two turns ends a sitting."""


class Layout(NamedTuple):
    """What scoring needs of the rows of a table; made once for a table that stays."""

    table: Rows
    counts: Ints
    """Number of rows of each file."""
    file: Ints
    """Ordinal of the file a row is in."""
    lengths: Floats
    """Number of words."""
    sitting: Ints
    """Ordinal of the sitting a turn was said in, -1 for what is no turn."""
    sittings: int
    keys: Ints
    """Key of each row in the engines, ascending."""

    @classmethod
    def of(cls, table: Rows) -> Layout:
        """Lay out a table."""
        counts = table.counts()
        file = np.repeat(np.arange(len(counts)), counts)
        lengths = table.words().astype(np.float64)
        keys = table.places()
        turns = ~table.column("session").among({""}) if len(table) else np.empty(0, dtype=bool)
        sitting = np.full(len(table), -1, dtype=np.int64)
        if turns.any():
            sitting = _number_sittings(table.column("at").numbers(), file, turns)
        return cls(table, counts, file, lengths, sitting, int(sitting.max(initial=-1)) + 1, keys)

    def alive(self, dead: Collection[str]) -> Bools:
        """Return which rows count when these paths do not."""
        kept = np.ones(len(self.counts), dtype=bool)
        kept[self.table.gone(dead)] = False
        return np.repeat(kept, self.counts)


def _number_sittings(at: Floats, file: Ints, turns: Bools) -> Ints:
    """Cut sessions at long pauses.

    A session is what a program calls one; a channel that runs for months is many
    conversations, and only those share a subject.
    """
    known = np.nan_to_num(at, nan=0.0)
    new = np.ones(len(known), dtype=bool)
    new[1:] = (file[1:] != file[:-1]) | (np.abs(np.diff(known)) > PAUSE_SECONDS)
    return np.where(turns, np.cumsum(new & turns) - 1, -1)
