"""The keyword lane: BM25 of the turn, of its window of neighbours, of its sitting.

All three come from the same postings of turns. Counts are whole numbers and each
word is added in the order of the query, so the sums do not depend on the order of
rows: two states of the index that hold the same units give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kimi_memory.index.searcher import Bools, Floats, Ints, Searcher

K1 = 1.5
B = 1.0
WINDOW_WEIGHT = 0.6
SESSION_WEIGHT = 0.7
WINDOW = (-2, -1, 1)
"""Neighbours of a turn that count, by distance: two before, one after."""
TOTAL = 1.0 + WINDOW_WEIGHT + SESSION_WEIGHT


@dataclass(frozen=True, slots=True)
class Lexical:
    """Summands of each row's score, 0 to 1 altogether."""

    turn: Floats
    window: Floats
    session: Floats

    @property
    def total(self) -> Floats:
        """The score of each row."""
        total: Floats = self.turn + self.window + self.session
        return total


@dataclass(frozen=True, slots=True)
class Frame:
    """One way of cutting the memory into documents."""

    count: int
    """Number of documents."""
    norm: Floats
    """What the length of each does to a word's weight."""

    @classmethod
    def of(cls, lengths: Floats, living: Bools) -> Frame:
        """Return the frame of documents of these lengths."""
        count = int(living.sum())
        mean = float(lengths[living].sum()) / count if count else 1.0
        return cls(count, K1 * (1 - B + B * lengths / (mean or 1.0)))


class Bm25:
    """Sums BM25 over words within a frame."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self.scores = np.zeros(len(frame.norm))

    def add(self, rows: Ints, counts: Floats) -> None:
        """Add a word that stands in these rows so often."""
        df = len(rows)
        if df:
            idf = np.log(1 + (self._frame.count - df + 0.5) / (df + 0.5))
            self.scores[rows] += idf * counts * (K1 + 1) / (counts + self._frame.norm[rows])


def rank(searcher: Searcher, words: Sequence[str], allowed: Bools) -> Lexical:
    """Score every row; rows that are not allowed count as zero."""
    turns = searcher.once("turns", lambda: searcher.alive & (searcher.sitting >= 0))
    unit, window, session = (
        Bm25(frame) for frame in searcher.once("frames", lambda: _frames(searcher, turns))
    )
    for word in words:
        rows, counts = searcher.postings(word)
        unit.add(rows, counts)
        if turns[rows].any():
            _add_context(searcher, window, session, (rows[turns[rows]], counts[turns[rows]]))
    return _shares(searcher, (unit, window, session), allowed)


def _frames(searcher: Searcher, turns: Bools) -> tuple[Frame, Frame, Frame]:
    """Return the frames of units, of windows, of sittings."""
    near = around(searcher, searcher.lengths * turns)
    count, codes = searcher.sittings, searcher.sitting[turns]
    sums = np.bincount(codes, weights=searcher.lengths[turns], minlength=count)
    held: Bools = np.bincount(codes, minlength=count) > 0
    return (
        Frame.of(searcher.lengths, searcher.alive),
        Frame.of(near, turns),
        Frame.of(sums.astype(np.float64), held),
    )


def around(searcher: Searcher, values: Floats) -> Floats:
    """Return for each row the sum of a value over its window, within its file."""
    total = np.zeros(len(values))
    for step in WINDOW:
        here, there = _pair(len(values), step)
        same = searcher.file[here] == searcher.file[there]
        total[here] += values[there] * same
    return total


def _pair(length: int, step: int) -> tuple[slice, slice]:
    """Return slices such that ``there`` is `step` rows after ``here``."""
    if step < 0:
        return slice(min(-step, length), None), slice(None, max(length + step, 0))
    return slice(None, max(length - step, 0)), slice(min(step, length), None)


def _add_context(
    searcher: Searcher, window: Bm25, session: Bm25, found: tuple[Ints, Floats]
) -> None:
    rows, counts = found
    values = np.zeros(len(searcher))
    values[rows] = counts
    near = around(searcher, values)
    touched = np.flatnonzero(near * (searcher.sitting >= 0) * searcher.alive)
    window.add(touched, near[touched])
    sums: Floats = np.bincount(
        searcher.sitting[rows], weights=counts, minlength=searcher.sittings
    ).astype(np.float64)
    held = np.flatnonzero(sums)
    session.add(held, sums[held])


def _shares(searcher: Searcher, parts: tuple[Bm25, Bm25, Bm25], allowed: Bools) -> Lexical:
    unit, window, session = parts
    alone = _scaled(unit.scores, allowed)
    near = _scaled(window.scores, allowed)
    whole = np.zeros(len(searcher))
    inside = searcher.sitting >= 0
    whole[inside] = session.scores[searcher.sitting[inside]]
    whole[(alone == 0) & (near == 0)] = 0.0
    whole = _scaled(whole, allowed)
    # What stands alone has no context; its own score takes the place of it.
    share = np.where(inside, 1.0, TOTAL)
    return Lexical(
        alone * share / TOTAL, near * WINDOW_WEIGHT / TOTAL, whole * SESSION_WEIGHT / TOTAL
    )


def _scaled(scores: Floats, allowed: Bools) -> Floats:
    kept: Floats = np.where(allowed, scores, 0.0)
    best = float(kept.max(initial=0.0))
    return kept / best if best > 0 else kept
