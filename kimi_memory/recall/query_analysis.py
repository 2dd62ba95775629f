"""A question as scoring sees it: its words, what may stand for them, its time, its breadth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from kimi_memory.index.searcher import Searcher
from kimi_memory.nlp.basic.patterns import simplify
from kimi_memory.nlp.dates.ranges import Span, time_spans
from kimi_memory.nlp.rules.question_framing import (
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
    known = searcher.once("speakers", lambda: _speaker_words(searcher))
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


def _speaker_words(searcher: Searcher) -> Mapping[str, frozenset[str]]:
    """Return the words of each speaker's name in the visible rows."""
    said = searcher.column("speaker").all()
    heard = said if searcher.whole else [said[row] for row in searcher.living()]
    names = sorted(set(heard) - {""})
    found = {name: frozenset(searcher.words.split(name)) for name in names}
    return {name: parts for name, parts in found.items() if parts}
