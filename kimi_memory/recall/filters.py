"""Filters of a query as masks over rows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from math import nan

import numpy as np

from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.model.note import Status
from kimi_memory.model.unit import Query

HIDDEN = frozenset({str(Status.SUPERSEDED), str(Status.ARCHIVED)})
"""What is not true any more is only found by who asks for it."""


def allowed(searcher: Searcher, query: Query) -> Bools:
    """Return the living rows that pass every filter of the query."""
    mask = searcher.alive.copy()
    for name in ("tier", "kind", "type", "status"):
        wanted: tuple[str, ...] = getattr(query, name)
        if wanted:
            mask &= _among(searcher, name, wanted)
    if not query.status:
        mask &= searcher.once("shown", lambda: ~_among(searcher, "status", HIDDEN))
    for name in ("project", "agent"):
        if getattr(query, name):
            mask &= _among(searcher, name, {getattr(query, name)})
    if query.tag:
        tags = set(query.tag)
        mask &= _mask([not tags.isdisjoint(found) for found in searcher.column("tags")])
    return mask & _within(searcher, query.since, query.until)


def _among(searcher: Searcher, name: str, wanted: Collection[str]) -> Bools:
    return _mask([value in wanted for value in searcher.column(name)])


def _mask(values: list[bool]) -> Bools:
    return np.asarray(values, dtype=bool)


def _within(searcher: Searcher, since: datetime | None, until: datetime | None) -> Bools:
    """Return the rows at or after `since` and before `until`; what has no time fails both."""
    if since is None and until is None:
        return np.ones(len(searcher), dtype=bool)
    at = np.asarray([nan if at is None else at for at in searcher.column("at")])
    mask: Bools = ~np.isnan(at)
    if since is not None:
        mask &= at >= since.timestamp()
    if until is not None:
        mask &= at < until.timestamp()
    return mask
