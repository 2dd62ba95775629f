"""The turns that cards and events quote, as the heads of their files name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from kimi_memory.domain.search_types import Hit, Query, Unit
from kimi_memory.errors import KimiMemoryError
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.recall.filters import allowed
from kimi_memory.recall.redaction import redact_hits

if TYPE_CHECKING:
    from kimi_memory.domain.session import Session, Turn
    from kimi_memory.index.searcher import Searcher

NOTES = frozenset({"card", "event"})
"""Kinds of units that quote turns."""
# "session:chat-7#3-5 supports …", as the front matter of a note names what it rests on.
_SOURCE = regex(
    r"session:(?P<session>[^\s\"'#]{1,255}+)#(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))? supports\b"
)
_LONGEST_RUN = 50
"""A source of more turns is a whole session, which no note restates."""


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
        known[unit.id] = tuple(_yield_turn_ids(content.decode("utf-8", "replace")))
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
    began, at = searcher.column("valid_from").numbers(), searcher.column("at").numbers()
    said = np.where(np.isnan(began), at, began)
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


def _yield_turn_ids(text: str) -> Iterator[str]:
    for found in _SOURCE.finditer(text):
        first, last = int(found["first"]), int(found["last"] or found["first"])
        if last - first < _LONGEST_RUN:
            yield from (f"session:{found['session']}#{n}" for n in range(first, last + 1))
