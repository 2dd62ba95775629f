"""What happened in a span of time: events, and statements when they were made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kimi_memory.domain.search_types import Hit, Query, Unit
from kimi_memory.recall.filters import allowed, redact_hits, restrict_to_caller, said_at

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Searcher


class Happened(NamedTuple):
    """One page of what happened."""

    units: tuple[Unit, ...]
    """In order of time; `at` is when it happened, or was said."""
    left: int
    """How many more there are."""


def find_last_happened(searcher: Searcher, query: Query, now: datetime) -> datetime | None:
    """Return when the last thing happened that passes some filters; None where nothing did."""
    view = restrict_to_caller(searcher, query)
    said = said_at(view)[allowed(view, query)]
    past = said[said <= now.timestamp()]
    return datetime.fromtimestamp(past.max(), now.tzinfo) if len(past) else None


def find_happened(
    searcher: Searcher, query: Query, span: tuple[datetime, datetime], now: datetime, limit: int
) -> Happened:
    """Return what passes some filters and happened in a span.

    A statement that came of an event of the same moment is left out.

    Args:
        searcher: a view of the memory; its guard is held by the caller.
        query: its filters alone count.
        span: the first moment, and the first one behind it.
        now: the present moment; times are shown on its clocks.
        limit: most units that are read.
    """
    view = restrict_to_caller(searcher, query)
    said, (begin, end) = said_at(view), (one.timestamp() for one in span)
    inside = allowed(view, query) & (said >= begin) & (said < end)
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(said[rows], kind="stable")]
    page = rows[:limit].tolist()
    found = view.units(page)
    hits = [
        Hit(replace(found[row], at=datetime.fromtimestamp(said.item(row), now.tzinfo)), 0.0, "")
        for row in page
        if row in found
    ]
    units = (hit.unit for hit in redact_hits(view.files, hits, query, now))
    return Happened(tuple(_drop_repeats([*units])), len(rows) - len(page))


def _drop_repeats(units: list[Unit]) -> Iterator[Unit]:
    shown = {(one.at, one.key, one.project) for one in units if one.kind == "event" and one.key}
    for one in units:
        if one.kind == "event" or (one.at, one.key, one.project) not in shown:
            yield one
