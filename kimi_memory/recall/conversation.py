"""A question as scoring sees it, and conversations: who talks with whom, on which day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

import numpy as np

from kimi_memory.domain.note import Role
from kimi_memory.index.searcher import Bools, Floats, Ints, Searcher, once_a_view
from kimi_memory.index.units import ASKS
from kimi_memory.nlp.basic.patterns import simplify
from kimi_memory.nlp.dates.ranges import Span, time_spans
from kimi_memory.nlp.rules.cues import (
    asks_for_reply,
    asks_for_several,
    asks_over_time,
    without_introduction,
)
from kimi_memory.nlp.rules.synonyms import Echo, Table

BROAD_KIND = 0.8
"""Weight of the things of a kind where the question asks for several."""
MOST_ECHOES = 24
"""Words that stand for one word of the question, at most."""
# Weekday, year, week and month of a date, as the splitter writes them.
_LOOSE = ("w:", "y:", "k:", "m:")


class Term(NamedTuple):
    """A word of the question and groups of words that may stand for it."""

    word: str
    echoes: tuple[Echo, ...] = ()


class Stretch(NamedTuple):
    """Days as moments, and the typed words of what speaks of them."""

    start: float
    end: float
    """The first moment after them."""
    words: tuple[str, ...] = ()


class Question(NamedTuple):
    """What is asked."""

    terms: tuple[Term, ...]
    names: frozenset[str] = frozenset()
    """Speakers it names."""
    days: tuple[Stretch, ...] = ()
    """Days it names."""
    broad: bool = False
    """Whether it asks for several things."""
    reply: bool = False
    """Whether it asks what an assistant said."""
    over_time: bool = False
    """Whether it asks for a whole course of things, which stands in many sittings."""


def read_question(
    searcher: Searcher, text: str, words: Sequence[str], now: datetime | None
) -> Question:
    """Return a question to a memory.

    Where the memory holds no conversation, nothing is read into the words.
    """
    if not searcher.sittings:
        return Question(tuple(map(Term, words)))
    told = _drop_introduction(searcher, text, words)
    broad, kept = asks_for_several(without_introduction(text)), _drop_loose_dates(told)
    known = _speaker_words(searcher)
    # All parts of a name: "Anna" alone does not name Anna Lee.
    named = frozenset(name for name, parts in known.items() if parts.issubset(kept))
    own = frozenset(word for name in named for word in known[name])
    memo = searcher.words.synonyms
    terms = [
        # No stand-ins for a name: "Grace" must not be looked for as "elegance".
        Term(word, () if word in own else _find_echoes(word, kept, memo, broad))
        for word in kept
    ]
    spans = time_spans(text, now) if now else ()
    days = tuple(_build_stretch(span, now) for span in spans)
    return Question(tuple(terms), named, days, broad, asks_for_reply(text), asks_over_time(text))


def _drop_introduction(searcher: Searcher, text: str, words: Sequence[str]) -> Sequence[str]:
    """Leave out the words that only introduce a question, unless it has no others."""
    rest = without_introduction(text)
    if rest == simplify(text):
        return words
    split = searcher.words.split
    idle = set(split(text)).difference(split(rest))
    # "Can you tell me …" is said in every second turn, and would count as asked for.
    return [word for word in words if word not in idle] or words


def _build_stretch(span: Span, now: datetime | None) -> Stretch:
    zone = (now and now.tzinfo) or UTC
    first = datetime.combine(span.first, time(), zone)
    end = datetime.combine(span.last + timedelta(days=1), time(), zone)
    month = span.first.replace(day=1), (span.last + timedelta(days=1)).replace(day=1)
    words = [f"d:{span.first}"] if span.first == span.last else []
    whole = span.first == month[0] and (month[1] - timedelta(days=1)) == span.last
    words += [f"m:{span.first:%Y-%m}"] if whole and (span.last - span.first).days <= 31 else []
    return Stretch(first.timestamp(), end.timestamp(), tuple(words))


def _drop_loose_dates(words: Sequence[str]) -> list[str]:
    """Leave out what a day is besides: every week has a Friday, and a year many days."""
    if not any(word.startswith("d:") for word in words):
        return list(words)
    return [word for word in words if not word.startswith(_LOOSE)]


def _find_echoes(
    word: str, words: Iterable[str], known: Sequence[Table], broad: bool
) -> tuple[Echo, ...]:
    said, found = set(words), []
    for place, table in enumerate(known):
        if word in table:
            others = tuple(one for one in table[word].words if one not in said)[:MOST_ECHOES]
            kind = broad and place == len(known) - 1
            if others:
                found.append(Echo(others, BROAD_KIND if kind else table[word].weight))
    return tuple(found)


@once_a_view
def _speaker_words(searcher: Searcher) -> Mapping[str, frozenset[str]]:
    """Return the words of each speaker's name in the visible rows."""
    said = searcher.column("speaker").all()
    heard = said if searcher.whole else [said[row] for row in searcher.living()]
    names = sorted(set(heard) - {""})
    found = {name: frozenset(searcher.words.split(name)) for name in names}
    return {name: parts for name, parts in found.items() if parts}


DAY = 86400
TALK_TURNS = 3
"""Turns of each speaker, on average, that make a dialogue."""
ASKING = 0.9
"""Factor of a turn of a dialogue that ends with a question."""
# Weak: "Yes." answers seldom, but a long turn is not by its length an answer.
LENGTH_POWER = 0.3
LENGTH_CAP = 1.5
"""A turn so many times as long as the median tells as much as a longer one."""
# A turn of one word is not worthless: it may be the answer.
SHORTEST = 0.05
STREAM_DAYS = 3
"""A file that goes on for so many days is a stream, such as messages or a log of calls: what
different streams say on one day is of the same day. Conversations have nothing to do with
each other, even on one day."""
BACK = 4
"""So many turns before one count as just before."""
POWER = 0.4
LEAST = 0.05
"""What a turn counts as bringing that only repeats."""


class Days(NamedTuple):
    """Turns by the day they were said on, whatever file they are in."""

    of: Ints
    """Ordinal of the day of each row, -1 where the day adds nothing to the sitting."""
    total: int
    """How many days there are."""


def during(searcher: Searcher, stretch: Stretch) -> Bools:
    """Return the turns said on some days, and whatever speaks of them by name."""
    at = searcher.once("at", lambda: searcher.column("at").numbers())
    found: Bools = (at >= stretch.start) & (at < stretch.end) & (searcher.sitting >= 0)
    for word in stretch.words:
        found[searcher.postings(word)[0]] = True
    return found


@once_a_view
def days(searcher: Searcher) -> Days:
    """Return the days on which several streams have something."""
    at = searcher.once("at", lambda: searcher.column("at").numbers())
    turns = searcher.alive & (searcher.sitting >= 0) & ~np.isnan(at)
    found = np.full(len(searcher), -1)
    if not turns.any():
        return Days(found, 0)
    _, ordinals = np.unique(
        np.floor((at[turns] - _find_day_break(at[turns])) / DAY), return_inverse=True
    )
    streams = _large_group_mask(searcher.file[turns], ordinals, STREAM_DAYS)
    several = _large_group_mask(ordinals[streams], searcher.sitting[turns][streams], 2)
    kept = np.full(len(ordinals), -1)
    kept[streams] = np.where(several, ordinals[streams], -1)
    found[turns] = kept
    return Days(found, int(ordinals.max()) + 1)


def _large_group_mask(groups: Ints, members: Ints, least: int) -> Bools:
    """Return for each entry whether its group has at least so many different members."""
    if not len(groups):
        return np.zeros(0, dtype=bool)
    pairs = np.unique(np.stack([groups, members]), axis=1)
    found: Bools = (np.bincount(pairs[0]) >= least)[groups]
    return found


def _find_day_break(at: Floats) -> float:
    """Return the second of the day farthest from all activity: people sleep, zones differ."""
    # A day ends where the least is said: the hours of a memory are those of its people, not UTC's.
    hours = np.arange(24)
    busy = np.bincount((at // 3600 % 24).astype(int), minlength=24)
    apart = np.abs(hours[:, None] - hours[None, :])
    # Around the clock: 23 and 1 are two hours apart.
    near = 12 - np.minimum(apart, 24 - apart)
    return float(np.argmin(near @ busy)) * 3600


@once_a_view
def dialogue(searcher: Searcher) -> Bools:
    """Return the turns of conversations among people, all of whom have a name.

    A dialogue has two speakers or more, each named and often heard, and no assistant.
    """
    turns = searcher.alive & (searcher.sitting >= 0)
    names, codes = np.unique(list(searcher.column("speaker")), return_inverse=True)
    bad = turns & (np.asarray(names == "")[codes] | searcher.column("role").among({Role.ASSISTANT}))
    count = searcher.sittings
    said = np.bincount(searcher.sitting[turns], minlength=count)
    pairs = np.unique(np.stack([searcher.sitting[turns], codes[turns]]), axis=1)
    heard = np.bincount(pairs[0], minlength=count)
    # A list of messages by many senders has many names and few turns of each.
    good = (heard > 1) & (said >= TALK_TURNS * heard)
    good[searcher.sitting[bad]] = False
    found: Bools = turns & np.append(good, False)[searcher.sitting]
    return found


@once_a_view
def follows_question(searcher: Searcher) -> Bools:
    """Return the turns of dialogues that come right after one that asks."""
    asks = _asking_turn_mask(searcher)
    found = np.zeros(len(searcher), dtype=bool)
    found[1:] = asks[:-1] & (searcher.file[1:] == searcher.file[:-1])
    return found & dialogue(searcher)


@once_a_view
def replies(searcher: Searcher) -> Bools:
    """Return the turns in which an assistant answers what somebody said right before."""
    found = np.zeros(len(searcher), dtype=bool)
    assistant = searcher.column("role").among({Role.ASSISTANT}) & (searcher.sitting >= 0)
    # Only the first message of several: the others go on with something else.
    found[1:] = assistant[1:] & ~assistant[:-1] & (searcher.file[1:] == searcher.file[:-1])
    return found


def _asking_turn_mask(searcher: Searcher) -> Bools:
    asks = np.zeros(len(searcher), dtype=bool)
    asks[searcher.postings(ASKS)[0]] = True
    return asks & dialogue(searcher)


@once_a_view
def telling(searcher: Searcher) -> Floats:
    """Return a factor for each row: what asks, or is short, answers less often."""
    talk = dialogue(searcher)
    factor = np.ones(len(searcher))
    if talk.any():
        length = searcher.lengths[talk] / float(np.median(searcher.lengths[talk]))
        said = np.clip(length, SHORTEST, LENGTH_CAP) / LENGTH_CAP
        factor[talk] = said**LENGTH_POWER * np.where(_asking_turn_mask(searcher)[talk], ASKING, 1.0)
    return factor


@once_a_view
def sides(searcher: Searcher) -> tuple[Bools, Bools]:
    """Return the turns of persons whom an assistant answers, and the assistant's."""
    roles, inside = searcher.column("role"), searcher.sitting >= 0
    assistant = roles.among({Role.ASSISTANT}) & inside
    person = roles.among({Role.USER}) & inside
    answered = np.zeros(searcher.sittings + 1, dtype=bool)
    answered[searcher.sitting[assistant]] = True
    return person & answered[searcher.sitting], assistant


def fresh(searcher: Searcher, rows: Sequence[int]) -> Floats:
    """Return a factor for each row: of a list, the turns that bring something are the items.

    Only some rows are looked at, because each must be read with those before it; the others
    keep 1, and so does what is no turn of a conversation.
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
