"""The rows that can lead, where a question asks only for the best.

A word that half of all rows hold adds little to each. Once the rarer words of a question are
added up, rows that no rest could lift among the best are let go, and only the others are
scored (MaxScore: Turtle and Flood 1995, "Query evaluation: strategies and optimizations").
Their scores are the same to the last bit as if all had been scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kimi_memory.index.columns import best
from kimi_memory.index.searcher import Bools, Floats, Ints, Searcher

# On labelled questions of both languages, 0.9/0.4 and 1.2/0.75 are within a point of these.
K1 = 1.5
B = 1.0
COMMON = 32
"""A word that more than one row in so many holds is put off, if the others suffice."""
KNOWN = 20_000
"""So many words are weighed once, not at every question; a server is asked for any of them."""
ENOUGH = 0.5
"""The rest must not be worth more than this share of the last of the best: else too many rows
would be left to be scored."""
_SLACK = 1 + 1e-9
"""Sums of the same numbers in another order differ by less."""


class Frame(NamedTuple):
    """One way of cutting the memory into documents."""

    documents: int
    """Number of documents."""
    norm: Floats
    """What the length of each does to a word's weight."""

    @classmethod
    def from_lengths(cls, lengths: Floats, living: Bools) -> Frame:
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


class Weight(NamedTuple):
    """What a word may add to a row."""

    word: str
    df: int
    """In how many rows it stands."""
    rarity: float
    peak: float
    """The most it adds to any row."""


class Leading(NamedTuple):
    """The rows that can lead."""

    rows: Ints
    """Ascending."""
    scores: Floats
    cover: Floats
    """The rarity of the words of the question that each row holds, summed."""
    asked: float
    """The rarity of all words of the question, summed."""


def leading(
    searcher: Searcher, frame: Frame, words: Sequence[str], allowed: Bools, room: int
) -> Leading:
    """Return rows among which the `room` best are, and one that covers most of the question.

    Args:
        searcher: a memory without talk: a word adds only to the rows that hold it.
        frame: of its rows.
        words: of the question.
        allowed: which rows count.
        room: how many of the best are asked for.
    """
    weights = [_word_weight(searcher, frame, word) for word in words]
    known = sorted((one for one in weights if one.df), key=lambda one: one.df)

    def gain(one: Weight) -> Floats:
        return searcher.impacts(one.word, frame.gain)

    peaks = [(one, one.peak) for one in known]
    rows = _promising_rows(
        searcher, peaks, gain, allowed, lambda sums: _lowest_best_sum(sums, room)
    )
    found = _score_rows(searcher, frame, weights, rows)
    widest = float(found.cover.max(initial=0.0))
    rarities = [(one, one.rarity) for one in known]
    # Some row among the best has every word: none can cover more.
    if widest * _SLACK >= sum(rarity for _, rarity in rarities):
        return found
    others = _promising_rows(
        searcher, rarities, lambda one: one.rarity, allowed, lambda sums: widest
    )
    either = np.zeros(len(searcher), dtype=bool)
    either[rows] = either[others] = True
    return _score_rows(searcher, frame, weights, np.flatnonzero(either))


def _word_weight(searcher: Searcher, frame: Frame, word: str) -> Weight:
    known = searcher.once("weights", dict[str, Weight])
    if word not in known:
        rows, counts = searcher.postings(word)
        peak = float(frame.gain(rows, counts).max(initial=0.0))
        found = Weight(word, len(rows), frame.rarity(len(rows)), peak)
        if not len(rows):
            return found  # A caller may invent any number of these.
        if len(known) >= KNOWN:
            known.clear()
        known[word] = found
    return known[word]


def _promising_rows(
    searcher: Searcher,
    known: Sequence[tuple[Weight, float]],
    adds: Callable[[Weight], Floats | float],
    allowed: Bools,
    least: Callable[[Floats], float],
) -> Ints:
    """Return the rows whose sum over all words may reach what it takes.

    Args:
        searcher: the memory.
        known: words that stand somewhere, rarest first, and the most that each adds.
        adds: what a word adds to the rows that hold it.
        allowed: which rows count.
        least: returns, of the sums so far, what it takes at least; 0 if that is not known yet.
    """
    sums, rest = np.zeros(len(searcher)), sum(most for _, most in known) * _SLACK
    takes, floor, every = 0.0, 0.0, bool(allowed.all())
    for number, (one, most) in enumerate(known):
        # Rarest first: they add most and touch fewest rows.
        sums[searcher.postings(one.word)[0]] += adds(one)
        rest -= most
        takes += most  # If it is known, it is no more than before and what was added since.
        rarer = number + 1 < len(known) and known[number + 1][0].df * COMMON < len(searcher)
        if rarer or rest >= ENOUGH * takes:
            continue
        takes = least(sums if every else sums * allowed)
        floor = (takes - rest * _SLACK) / _SLACK
        if rest < ENOUGH * takes:
            break
    reached: Bools = sums >= max(floor, np.nextafter(0.0, 1.0))
    return np.flatnonzero(reached if every else reached & allowed)


def _lowest_best_sum(sums: Floats, room: int) -> float:
    """Return the last of the `room` best sums, 0 where there are fewer."""
    rows = best(sums, room)
    return float(sums[rows].min()) if len(rows) >= room else 0.0


def _score_rows(searcher: Searcher, frame: Frame, weights: list[Weight], rows: Ints) -> Leading:
    """Score rows by all words of the question, in their order."""
    scores, cover, asked = np.zeros(len(rows)), np.zeros(len(rows)), 0.0
    for one in weights:
        asked += one.rarity
        if one.df:
            counts = searcher.counts(one.word, rows)
            scores += frame.weigh(one.rarity, counts, rows)
            cover += one.rarity * (counts > 0)
    return Leading(rows, scores, cover, asked)
