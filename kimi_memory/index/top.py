"""The best of many scores, without sorting the rest."""

from __future__ import annotations

import numpy as np

from kimi_memory.index.columns import Floats
from kimi_memory.index.layout import Ints

BLOCK = 64


def best(scores: Floats, room: int) -> Ints:
    """Return the rows of the `room` best scores above zero, ascending, all that tie with the last.

    The maxima of blocks bound the last of the best from below; most blocks stay below it.
    """
    whole = len(scores) // BLOCK
    if whole <= room:
        return _keep_best_rows(scores, np.flatnonzero(scores > 0), room)
    maxima = scores[: whole * BLOCK].reshape(whole, BLOCK).max(axis=1)
    # At least so many rows reach this: one in each of the best blocks.
    floor = max(float(np.partition(maxima, -room)[-room]), np.nextafter(0.0, 1.0))
    blocks = np.flatnonzero(maxima >= floor)
    rows = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    rows = np.concatenate([rows, np.arange(whole * BLOCK, len(scores))])
    return _keep_best_rows(scores, rows[scores[rows] >= floor], room)


def _keep_best_rows(scores: Floats, rows: Ints, room: int) -> Ints:
    if len(rows) <= room:
        return rows
    found = scores[rows]
    kept: Ints = rows[found >= np.partition(found, -room)[-room]]
    return kept
