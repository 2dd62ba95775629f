"""Evidence: which notes rest on which turns, and what was said for a value that was replaced.

Replaced values stand behind what holds now, unless they are asked for.

A card that was superseded is hidden, but the turns and events it rests on are not: they
would still say the old value first. So what only a replaced card rests on counts less.
A question about the previous value sees the replaced cards again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kimi_memory.domain.note import Card, Rel, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Hit, Query, Related, Unit
from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.searcher import Bools, Floats, Searcher, once_a_view
from kimi_memory.index.units import served_note
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.recall.filters import allowed, redact_hits, said_at, standing

if TYPE_CHECKING:
    from kimi_memory.domain.session import Session, Turn

BEHIND, AHEAD = 0.5, 1.5
"""Factors of what only a replaced card rests on, and of the card that holds instead."""
PREVIOUS = 3.0
"""Factor of replaced cards where they are asked for; their status alone counts 0.6."""
MOST = 200
"""So many replaced cards are read for their evidence, those changed last."""
QUOTES = "QUOTES"
LIMIT = 3
"""Most notes shown beside a turn."""
_TRIED = 20
"""So many notes that share the most words with a turn are read for their sources."""
NOTES = frozenset({"card", "event"})
"""Kinds of units that quote turns."""
# "session:chat-7#3-5 supports …", as the front matter of a note names what it rests on.
_SOURCE = regex(
    r"session:(?P<session>[^\s\"'#]{1,255}+)#(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))? supports\b"
)
_LONGEST_RUN = 50
"""A source of more turns is a whole session, which no note restates."""


class Replaced(NamedTuple):
    """Replaced cards and what they rest on."""

    cards: Bools
    turns: frozenset[str]
    """Ids of turns on which no card rests that still holds under the same key."""
    instead: frozenset[int] = frozenset()
    """Rows of the cards that hold under the same keys."""
    after: Mapping[str, int] = MappingProxyType({})
    """By the id of a replaced card, or of a turn that only it rests on, the row of the card
    that holds instead; -1 where none is known."""


def stand_behind(searcher: Searcher, rows: Sequence[int]) -> Floats | None:
    """Return a factor for each row, of which only some are looked at; None where all is 1."""
    _, turns, instead, _ = replaced(searcher)
    if not turns:
        return None
    factor, known = np.ones(len(searcher)), searcher.once("factors of values", dict[int, float])
    for row in rows:
        if row not in known:
            said = _evidence_turns(searcher, row)
            # An event that rests on anything else as well still says something.
            gone = said and turns.issuperset(said)
            known[row] = AHEAD if row in instead else BEHIND if gone else 1.0
        factor[row] = known[row]
    return factor


def favour_previous(searcher: Searcher) -> Floats:
    """Return a factor for each row that puts replaced cards first."""
    return np.where(replaced(searcher).cards, PREVIOUS, 1.0)


def successor(searcher: Searcher, id: str) -> str | None:
    """Return what holds instead of a card or a turn, None where it was not replaced.

    It is empty where the turn or the card was replaced and nothing says by what.
    """
    row = replaced(searcher).after.get(id)
    return None if row is None else searcher.text(row) if row >= 0 else ""


@once_a_view
def replaced(searcher: Searcher) -> Replaced:
    """Return the replaced cards of a memory and the turns that only they rest on."""
    kinds, statuses = searcher.column("kind"), searcher.column("status")
    cards: Bools = searcher.alive & statuses.among((Status.SUPERSEDED,)) & kinds.among(("card",))
    key, project, at = (searcher.column(name) for name in ("key", "project", "at"))

    def slot(row: int) -> tuple[str, str]:
        # Each of two projects may have a database: a value is replaced within its own.
        return (key[row] or "", project[row] or "")

    latest = sorted(np.flatnonzero(cards).tolist(), key=lambda row: at[row] or 0.0)[-MOST:]
    rested = {
        row: list(_yield_turn_ids([note])) for row in latest if (note := _read_note(searcher, row))
    }
    own = {slot(row) for row in latest if key[row]}
    living = searcher.alive & ~cards & kinds.among(("card",))
    rivals = [row for row in np.flatnonzero(living).tolist() if slot(row) in own] if own else []
    # "I moved from Bern to Basel" supports the old card and the new one: it stays in front.
    held = frozenset(_yield_turn_ids(note for row in rivals if (note := _read_note(searcher, row))))
    gone = frozenset(turn for turns in rested.values() for turn in turns) - held
    newest = {slot(row): row for row in sorted(rivals, key=lambda row: at[row] or 0.0)}
    ids = searcher.column("id")
    after = {
        id: newest.get(slot(row), -1)
        for row in latest
        for id in (ids[row], *gone.intersection(rested.get(row, ())))
    }
    return Replaced(cards, gone, frozenset(rivals), after)


def _evidence_turns(searcher: Searcher, row: int) -> Sequence[str]:
    """Return the turns an event rests on, or itself; a card says itself whether it holds."""
    kind = searcher.column("kind")[row]
    if kind == "event":
        note = _read_note(searcher, row)
        return tuple(_yield_turn_ids([note] if note else []))
    return (searcher.column("id")[row],) if kind == "turn" else ()


def _read_note(searcher: Searcher, row: int) -> Card | Event | None:
    note = served_note(searcher.files, searcher.path(row))
    return note if isinstance(note, Card | Event) else None


def _yield_turn_ids(notes: Iterable[Card | Event]) -> Iterator[str]:
    """Yield the ids of the turns that support some notes."""
    for note in notes:
        for source in note.sources:
            if source.session and source.rel is Rel.SUPPORTS:
                turns = range(source.first, source.last + 1)
                yield from (f"session:{source.session}#{n}" for n in turns)


def quoting(
    searcher: Searcher, hits: Iterable[Hit], holding: Bools | None = None
) -> dict[str, tuple[Related, ...]]:
    """Return the notes that rest on each turn among some hits, by its id.

    Args:
        searcher: the memory.
        hits: what was found.
        holding: the only rows that may be shown; those that hold now where not given.
    """
    turns = [hit.unit for hit in hits if hit.unit.kind == "turn"]
    if not turns:
        return {}
    quotes = _Quotes(searcher, standing(searcher) if holding is None else holding)
    return {unit.id: tuple(quotes.find_related(unit))[:LIMIT] for unit in turns}


class _Quotes:
    """The notes of a memory that stand, read when a turn may be their evidence."""

    def __init__(self, searcher: Searcher, holding: Bools) -> None:
        self._searcher = searcher
        kinds = searcher.column("kind")
        rows = map(int, np.flatnonzero(searcher.alive & holding))
        self._rows = frozenset(row for row in rows if kinds[row] in NOTES)
        self._notes: dict[int, Card | Event | None] = {}

    def find_related(self, unit: Unit) -> Iterator[Related]:
        """Yield the notes that a turn is evidence of."""
        session, _, n = unit.id.removeprefix("session:").partition("#")
        for row in self._find_similar_rows(unit):
            note = self._read_note(row)
            if note is not None and any(
                source.session == session and source.first <= int(n) <= source.last
                for source in note.sources
            ):
                yield Related(note.id, note.title, QUOTES, 1.0)

    def _find_similar_rows(self, unit: Unit) -> Sequence[int]:
        """Return the notes that share the most words with a turn: those that quote it do."""
        shared: Counter[int] = Counter()
        for word in set(self._searcher.words.split(unit.text)):
            shared.update(self._rows.intersection(map(int, self._searcher.postings(word)[0])))
        # Reading every note of a memory for one turn would take longer than the recall.
        return sorted(shared, key=lambda row: (-shared[row], row))[:_TRIED]

    def _read_note(self, row: int) -> Card | Event | None:
        if row not in self._notes:
            self._notes[row] = _read_note(self._searcher, row)
        return self._notes[row]


def rests_on(searcher: Searcher, unit: Unit) -> tuple[str, ...]:
    """Return the ids of the turns that a card or an event quotes."""
    if unit.kind not in NOTES:
        return ()
    known = searcher.once("quoted turns", dict[str, tuple[str, ...]])
    if unit.id not in known:
        content = b""
        # Its session is gone or waits for a word: the card is shown without the quote's turn.
        with suppress(OSError, KimiMemoryError):
            content = searcher.files.served(unit.path).content
        known[unit.id] = tuple(_find_turn_ids(content.decode("utf-8", "replace")))
    return known[unit.id]


def find_outcome(
    searcher: Searcher, session: Session, turns: Sequence[Turn], query: Query, now: datetime
) -> Mapping[int, Sequence[Unit]]:
    """Return the cards and events that quote turns of a session, by the number of the turn.

    A note is as old as what it quotes; one whose day a person changed is looked for elsewhere.

    Args:
        searcher: a view of the memory; its guard is held by the caller.
        session: whose turns they are.
        turns: in order.
        query: what the caller may see; its text and its limit do not count.
        now: the present moment; what was forgotten until then is not shown.
    """
    if not turns:
        return {}
    said = said_at(searcher)
    known = allowed(searcher, query) & searcher.column("kind").among(tuple(NOTES))
    times = [turn.at.timestamp() for turn in turns]
    # Files hold whole seconds.
    near = known & (said >= min(times) - 1) & (said <= max(times) + 1)
    units = searcher.units(np.flatnonzero(near).tolist()).values()
    hits = redact_hits(searcher.files, [Hit(unit, 0.0, "") for unit in units], query, now)
    numbers = {f"session:{session.id}#{turn.n}": turn.n for turn in turns}
    found = defaultdict[int, list[Unit]](list)
    for unit in (hit.unit for hit in hits):
        for turn in rests_on(searcher, unit):
            if turn in numbers:
                found[numbers[turn]].append(unit)
    return found


def _find_turn_ids(text: str) -> Iterator[str]:
    for found in _SOURCE.finditer(text):
        first, last = int(found["first"]), int(found["last"] or found["first"])
        if last - first < _LONGEST_RUN:
            yield from (f"session:{found['session']}#{n}" for n in range(first, last + 1))
