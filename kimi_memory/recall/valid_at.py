"""The past: what the memory held to be true at a moment, by validity, not by the time of writing.

A card counts from the moment it became true until it ceased to be, whatever became of it
later; all else counts from the moment it was said or last written. What was forgotten or
taken back stays away at every moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import numpy as np

from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.search_types import Unit
from kimi_memory.domain.tombstone import Tombstones
from kimi_memory.index.searcher import Bools, Floats, Searcher
from kimi_memory.index.units import served_note
from kimi_memory.recall.redaction import forgotten, tombstones_of

_PAST = (str(Status.SUPERSEDED), str(Status.ARCHIVED))


def rows_held_at(searcher: Searcher, moment: datetime) -> Bools:
    """Return the rows of what was held to be true at a moment."""
    at = moment.timestamp()
    cards = searcher.once("cards", lambda: searcher.column("kind").among((Card.kind,)))
    started, ended = searcher.once("validity", lambda: _compute_validity(searcher))
    gone = searcher.column("status").among(_PAST)
    stones = tombstones_of(searcher.files)
    # The stones are kept beside the result: while they live, nothing else can have their `id`.
    back = searcher.once(f"back {id(stones)}", lambda: (stones, _may_come_back(searcher, stones)))
    # Written so that NaN, an end that is not known, counts as not yet ended.
    found = (started <= at) & ~(ended <= at)
    return found & (~gone | (cards & back[1])) & ~forgotten(searcher)


def as_then(unit: Unit) -> Unit:
    """Return a unit as it was weighed when it was held to be true: as one that is live."""
    return replace(unit, status=str(Status.ACTIVE)) if unit.status in _PAST else unit


def _compute_validity(searcher: Searcher) -> tuple[Floats, Floats]:
    """Return when each row began to hold and when it ceased; NaN where that is not known."""
    at, kinds = searcher.column("at").numbers(), searcher.column("kind")
    started = searcher.column("valid_from").numbers()
    started = np.where(np.isnan(started), at, started)
    ended = searcher.column("valid_to").numbers().copy()
    superseded = searcher.column("status").among((str(Status.SUPERSEDED),)) & searcher.alive
    open_ended = np.flatnonzero(superseded & np.isnan(ended) & kinds.among((Card.kind,)))
    if len(open_ended):
        after = _succession_times(searcher)
        ids = searcher.column("id")
        for row in map(int, open_ended):
            # Without a successor that names it, it ended when it was marked.
            ended[row] = after.get(ids.value(row), at[row])
    return started, ended


def _succession_times(searcher: Searcher) -> dict[str, float]:
    """Return by the id of a card when the first that supersedes it began to hold."""
    found: dict[str, float] = {}
    for card in _yield_cards(searcher, searcher.alive):
        since = (card.valid_from or card.created).timestamp()
        for id in card.supersedes:
            # The first that took its place has ended it.
            found[id] = min(since, found.get(id, since))
    return found


def _may_come_back(searcher: Searcher, stones: Tombstones) -> Bools:
    """Return the cards that are live no more and yet may be shown as of when they were.

    What was archived comes back only where its end is known: it ran out. Without an end
    it was put away for another reason.
    """
    past = searcher.alive & searcher.column("status").among(_PAST)
    ran_out = ~np.isnan(searcher.column("valid_to").numbers())
    past &= ran_out | searcher.column("status").among((str(Status.SUPERSEDED),))
    if not stones:
        return past
    ids = {card.id for card in _yield_cards(searcher, past) if not _is_barred(stones, card)}
    return past & searcher.column("id").among(ids)


def _is_barred(stones: Tombstones, card: Card) -> bool:
    scopes = {"memory", f"project:{card.project}", card.scope}
    quotes = [quote.text for quote in card.quotes]
    return stones.bars(scopes, card.key, [card.value], quotes)


def _yield_cards(searcher: Searcher, mask: Bools) -> Iterator[Card]:
    """Yield the cards among some rows, as their files have them; unreadable ones are left out."""
    rows = np.flatnonzero(mask & searcher.column("kind").among((Card.kind,)))
    for path in (searcher.path(int(row)) for row in rows):
        note = served_note(searcher.files, path)
        if isinstance(note, Card):
            yield note
