"""Replaced values: they stand behind what holds now, unless they are asked for.

A card that was superseded is hidden, but the turns and events it rests on are not: they
would still say the old value first. So what only a replaced card rests on counts less.
A question about the previous value sees the replaced cards again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from kimi_memory.domain.note import Card, Source, Status
from kimi_memory.domain.pages import Event
from kimi_memory.index.searcher import Bools, Floats, Searcher
from kimi_memory.index.units import served_note

BEHIND, AHEAD = 0.5, 1.5
"""Factors of what only a replaced card rests on, and of the card that holds instead."""
PREVIOUS = 3.0
"""Factor of replaced cards where they are asked for; their status alone counts 0.6."""
MOST = 200
"""So many replaced cards are read for their evidence, those changed last."""


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


def replaced(searcher: Searcher) -> Replaced:
    """Return the replaced cards of a memory and the turns that only they rest on."""
    return searcher.once("replaced", lambda: _find_replaced(searcher))


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


def _find_replaced(searcher: Searcher) -> Replaced:
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
    living = searcher.alive & ~cards & kinds.among(("card",)) if own else np.zeros(0, dtype=bool)
    rivals = [row for row in np.flatnonzero(living).tolist() if slot(row) in own]
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
        for source in filter(_is_supporting_source, note.sources):
            for n in range(source.first, source.last + 1):
                yield f"session:{source.session}#{n}"


def _is_supporting_source(source: Source) -> bool:
    return bool(source.session) and str(source.rel) == "supports"
