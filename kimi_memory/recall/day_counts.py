"""How much there is of each day: turns, sessions, notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Ints, Searcher


def count_units(
    searcher: Searcher, kinds: Sequence[str], starts: Sequence[datetime]
) -> list[int]:  # fmt: skip
    """Return how many units of some kinds fall into each span between two moments.

    Args:
        searcher: what the caller may see; its guard is held by the caller.
        kinds: turn, event, card and the like.
        starts: where each span begins, ascending; the last one is where all end.
    """
    rows = np.flatnonzero(searcher.alive & searcher.column("kind").among(kinds))
    number = _span_of(searcher, rows, starts)
    inside = number[(number >= 0) & (number < len(starts) - 1)]
    return [int(count) for count in np.bincount(inside, minlength=len(starts) - 1)]


def count_sessions(searcher: Searcher, starts: Sequence[datetime]) -> list[int]:
    """Return in how many sessions something was said in each span; see `count_units`."""
    rows = np.flatnonzero(searcher.alive & searcher.column("kind").among(("turn",)))
    number = _span_of(searcher, rows, starts)
    names, found = searcher.column("session"), set[tuple[int, str]]()
    for at in np.flatnonzero((number >= 0) & (number < len(starts) - 1)).tolist():
        found.add((number.item(at), names[rows.item(at)]))
    days = [day for day, _ in found]
    return [days.count(day) for day in range(len(starts) - 1)]


def find_last(searcher: Searcher, kinds: Sequence[str], now: datetime) -> datetime | None:
    """Return when the newest unit of some kinds is from; None where there is none before now."""
    rows = searcher.alive & searcher.column("kind").among(kinds)
    at = searcher.column("at").numbers()[rows]
    past = at[at <= now.timestamp()]
    return datetime.fromtimestamp(past.max(), now.tzinfo) if len(past) else None


def _span_of(searcher: Searcher, rows: Ints, starts: Sequence[datetime]) -> Ints:
    """Return the number of the span each row falls into; -1 before the first."""
    at = searcher.column("at").numbers()[rows]
    begins = np.asarray([one.timestamp() for one in starts])
    found = np.searchsorted(begins, np.where(np.isnan(at), -np.inf, at), side="right") - 1
    return np.asarray(found, dtype=np.int64)
