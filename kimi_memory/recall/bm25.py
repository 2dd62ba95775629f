"""The keyword lane: BM25 of a turn, its neighbours, its sitting and its day.

All come from the same postings of turns. Counts are whole numbers and each word is
added in the order of the query, so the sums do not depend on the order of rows: two
states of the index that hold the same units give the same bits.

Where a question asks only for the best, few rows can lead. A word that half of all rows hold adds
little to each. Once the rarer words of a question are added up, rows that no rest could lift among
the best are let go, and only the others are scored (MaxScore: Turtle and Flood 1995, "Query
evaluation: strategies and optimizations"). Their scores are the same to the last bit as if all had
been scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kimi_memory.index.columns import best
from kimi_memory.index.searcher import Bools, Floats, Ints, Searcher, once_a_view
from kimi_memory.nlp.rules.synonyms import Echo
from kimi_memory.recall.conversation import Question, Term, days, follows_question, replies

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


WINDOW = ((-2, 6), (-1, 10), (1, 7))
"""Neighbours of a turn that count, and how much in tenths: two before, one after."""
TENTHS = 10
NEARBY = 0.7
"""What a word counts as covered by that a neighbour says."""
OTHERS = 0.7
"""What a turn of somebody else covers of a question about one speaker."""


class Mix(NamedTuple):
    """What the parts of a turn weigh against its own words."""

    window: float = 0.6
    session: float = 0.5
    day: float = 1.0
    answer: float = 0.5
    cover: float = 0.7
    """How much of its own score a turn loses that says nothing else of the question."""

    @property
    def total(self) -> float:
        """The weight of the parts that every turn may have, its own words among them."""
        return 1.0 + self.window + self.session


# Fitted on labelled questions in Chinese and English.
NARROW = Mix()
BROAD = Mix(window=0.3, session=0.3, cover=0.7)
"""Of a question for several things: they stand in many sittings, so their own words count, and
each of them says less of the question."""


class Lexical(NamedTuple):
    """Summands of each row's score."""

    turn: Floats
    window: Floats
    session: Floats
    day: Floats
    answer: Floats
    cover: float
    """Share of what the question says, by rarity, that the best row covers; 0 to 1."""

    @property
    def parts(self) -> dict[str, Floats]:
        """The summands by name; without turns there is but one."""
        # A broadcast zero has no stride: there was no talk to add up.
        if not self.window.strides[0]:
            return {"turn": self.turn}
        return {
            "turn": self.turn,
            "window": self.window,
            "session": self.session,
            "day": self.day,
            "answer": self.answer,
        }


class Bm25:
    """Sums BM25 over words within a frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.scores = np.zeros(len(frame.norm))

    def add(self, rows: Ints, counts: Floats, weight: float = 1.0, df: int = -1) -> None:
        """Add a word that stands in these rows so often, and in `df` rows that are counted."""
        if len(rows):
            rarity = self.frame.rarity(len(rows) if df < 0 else df)
            self.scores[rows] += self.frame.weigh(weight * rarity, counts, rows)

    def add_groups(self, groups: Ints, counts: Floats, weight: float) -> None:
        """Add a word whose rows belong to groups of rows, -1 for none."""
        inside = groups >= 0
        sums: Floats = np.bincount(
            groups[inside], counts[inside], minlength=len(self.scores)
        ).astype(np.float64)
        held = np.flatnonzero(sums)
        self.add(held, sums[held], weight)

    def by_row(self, groups: Ints) -> Floats:
        """Return for each row the score of its group, 0 for those without."""
        return np.append(self.scores, 0.0)[groups]


class Scores:
    """Everything that is summed over the words of one question."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.turns = searcher.once("turns", lambda: searcher.alive & (searcher.sitting >= 0))
        self.notes = notes_beside_talk(searcher)
        self.day_of = days(searcher).of
        frames = searcher.once("frames", lambda: _build_frames(searcher, self.turns))
        self.unit, self.window, self.session, self.day = map(Bm25, frames)
        self.cover = np.zeros(len(searcher))
        self.known = self.asked = 0.0

    def add_term(self, term: Term) -> None:
        """Add a word of the question and the words that may stand for it."""
        rows, counts = self.searcher.postings(term.word)
        rarity = self.unit.frame.rarity(self._document_frequency(rows))
        self.asked += rarity
        self.known += rarity if len(rows) else 0.0
        if not self.searcher.sittings and not term.echoes:
            # Pages have no context: a word touches nothing but the rows that hold it.
            self.unit.scores[rows] += self.searcher.impacts(term.word, self.unit.frame.gain)
            self.cover[rows] += rarity
            return
        said = self._add_word(rows, counts, 1.0)
        for echo in term.echoes:
            # The best of a word and its stand-ins, not their sum: saying it twice covers no more.
            said = np.maximum(said, self._add_word(*self._merge_postings(echo), echo.weight))
        self.cover += rarity * said

    def lead(self, question: Question, allowed: Bools, room: int) -> None:
        """Add all words of the question, but only to rows that can be among the best."""
        words = [term.word for term in question.terms]
        found = leading(self.searcher, self.unit.frame, words, allowed, room)
        self.unit.scores[found.rows] = found.scores
        self.cover[found.rows] = found.cover
        self.asked = found.asked

    def _document_frequency(self, rows: Ints) -> int:
        return len(rows) - int(np.count_nonzero(self.notes[rows]))

    def _merge_postings(self, echo: Echo) -> tuple[Ints, Floats]:
        """Return the rows that hold some word of a group, and how often."""
        sums = np.zeros(len(self.searcher))
        for word in echo.words:
            rows, counts = self.searcher.postings(word)
            sums[rows] += counts
        found = np.flatnonzero(sums)
        return found, sums[found]

    def _add_word(self, rows: Ints, counts: Floats, weight: float) -> Floats:
        """Add a word to every frame; return how far each row says it."""
        self.unit.add(rows, counts, weight, self._document_frequency(rows))
        said = np.zeros(len(self.searcher))
        inside = self.turns[rows]
        if inside.any():
            at, often = rows[inside], counts[inside]
            near = np.zeros(len(self.searcher))
            near[at] = often
            # In whole tenths: sums of whole numbers are the same in any order.
            near = around(self.searcher, near) * self.turns
            touched = np.flatnonzero(near)
            self.window.add(touched, near[touched] / TENTHS, weight)
            self.session.add_groups(self.searcher.sitting[at], often, weight)
            self.day.add_groups(self.day_of[at], often, weight)
            said[touched] = NEARBY * weight
        said[rows] = weight
        return said


def rank(searcher: Searcher, question: Question, allowed: Bools, room: int = 0) -> Lexical:
    """Score every row; rows that are not allowed count as zero.

    Args:
        searcher: the memory.
        question: what is asked.
        allowed: which rows count.
        room: so many of the best are all that is asked for; others may then count as zero.
            0 for all.
    """
    scores = Scores(searcher)
    if room and not searcher.sittings and not any(term.echoes for term in question.terms):
        scores.lead(question, allowed, room)
    else:
        for term in question.terms:
            scores.add_term(term)
    return _combine_scores(scores, question, allowed)


def _build_frames(searcher: Searcher, turns: Bools) -> tuple[Frame, ...]:
    """Return the frames of units, of windows, of sittings, of days."""
    near = around(searcher, searcher.lengths * turns)
    found = days(searcher)
    return (
        Frame.from_lengths(searcher.lengths, searcher.alive & ~notes_beside_talk(searcher)),
        Frame.from_lengths(near, turns),
        _build_group_frame(searcher.sitting[turns], searcher.lengths[turns], searcher.sittings),
        _build_group_frame(found.of[found.of >= 0], searcher.lengths[found.of >= 0], found.total),
    )


@once_a_view
def notes_beside_talk(searcher: Searcher) -> Bools:
    """Return which rows restate what was said; beside the talk itself they count for nothing.

    Else a word would seem less rare for having been distilled, and turns change places.
    """
    if not searcher.sittings:
        return np.zeros(len(searcher), dtype=bool)
    return searcher.column("kind").among(("card", "event"))


def _build_group_frame(groups: Ints, lengths: Floats, count: int) -> Frame:
    sums = np.bincount(groups, lengths, minlength=count)
    held: Bools = np.bincount(groups, minlength=count) > 0
    return Frame.from_lengths(sums.astype(np.float64), held)


def around(searcher: Searcher, values: Floats) -> Floats:
    """Return for each row the sum of a value over its window, in tenths, within its file."""
    total = np.zeros(len(values))
    for (here, there, same), (_, weight) in zip(_window_steps(searcher), WINDOW, strict=True):
        total[here] += weight * values[there] * same
    return total


@once_a_view
def _window_steps(searcher: Searcher) -> list[tuple[slice, slice, Bools]]:
    steps = [_shifted_slices(len(searcher), step) for step, _ in WINDOW]
    return [(here, there, searcher.file[here] == searcher.file[there]) for here, there in steps]


def _shifted_slices(length: int, step: int) -> tuple[slice, slice]:
    """Return slices such that ``there`` is `step` rows after ``here``."""
    if step < 0:
        return slice(min(-step, length), None), slice(None, max(length + step, 0))
    return slice(None, max(length - step, 0)), slice(min(step, length), None)


def _combine_scores(scores: Scores, question: Question, allowed: Bools) -> Lexical:
    searcher, own = scores.searcher, scores.unit.scores
    # One zero, seen from every row: it takes no memory.
    none: Floats = np.broadcast_to(0.0, len(searcher))
    share, mix = _covered_share(scores, question, allowed), BROAD if question.broad else NARROW
    if not searcher.sittings:
        return Lexical(_scale_scores(own, allowed), none, none, none, none, share)
    inside = searcher.sitting >= 0
    if scores.known:
        # A turn that says one word of five is hardly an answer, however rare that word is.
        own = own * (1 - mix.cover * (1 - scores.cover / scores.known))
    # Turns are held against turns: a note that says more must not make less of them.
    alone = np.minimum(1.0, _scale_scores(own, allowed, allowed & ~scores.notes))
    near = _scale_scores(scores.window.scores, allowed)
    touched = allowed & ((alone > 0) | (near > 0))
    answer = np.zeros(len(searcher))
    answers = replies(searcher) if question.reply else follows_question(searcher)
    # Who answers repeats few words of the question, so an answer borrows from the turn before it.
    answer[1:] = alone[:-1] * (answers & allowed)[1:]
    return Lexical(
        # What stands alone has no context; its own score takes the place of it.
        alone * np.where(inside, 1 / mix.total, 1.0),
        near * mix.window / mix.total,
        _scale_scores(scores.session.by_row(searcher.sitting), touched) * mix.session / mix.total,
        _scale_scores(scores.day.by_row(scores.day_of), touched) * mix.day / mix.total,
        answer * mix.answer / mix.total,
        share,
    )


def _covered_share(scores: Scores, question: Question, allowed: Bools) -> float:
    """Return the share of the question that the best row covers; rare words count for more."""
    if not scores.asked:
        return 1.0
    cover = scores.cover if allowed.all() else np.where(allowed, scores.cover, 0.0)
    if len(question.names) == 1:
        theirs = scores.searcher.column("speaker").among(question.names)
        # What Ben says of Anna answers a question about her as well, though less surely.
        cover = np.where(theirs, cover, cover * OTHERS)
    return min(1.0, float(cover.max(initial=0.0)) / scores.asked)


def _scale_scores(scores: Floats, allowed: Bools, among: Bools | None = None) -> Floats:
    kept: Floats = scores if allowed.all() else scores * allowed
    best = float(kept[among].max(initial=0.0)) if among is not None else 0.0
    # Where no turn says anything of it, notes are their own measure.
    best = best or float(kept.max(initial=0.0))
    return kept / best if best > 0 else kept
