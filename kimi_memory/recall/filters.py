"""Filters of a query as masks over rows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from fnmatch import fnmatchcase
from math import nan

import numpy as np

from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import Query
from kimi_memory.domain.session import SHARED
from kimi_memory.index.searcher import Bools, Floats, Searcher
from kimi_memory.nlp.basic.normalize import normalise
from kimi_memory.recall.phrases import worded
from kimi_memory.recall.redaction import forgotten
from kimi_memory.recall.valid_at import rows_held_at

HIDDEN = frozenset({str(Status.SUPERSEDED), str(Status.ARCHIVED)})
"""What is not true any more is only found by who asks for it."""
MARKED = 0.25
"""What a row earns by saying a phrase that was asked for, besides the words in it."""


def allowed(searcher: Searcher, query: Query) -> Bools:
    """Return the living rows that pass every filter of the query."""
    mask = searcher.alive & holding(searcher, query) & visible_rows(searcher, query)
    for name in ("tier", "kind", "type"):
        wanted: tuple[str, ...] = getattr(query, name)
        if wanted:
            mask &= _column_mask(searcher, name, wanted)
    mask &= _owner_mask(searcher, query)
    if query.tag:
        tags = set(query.tag)
        mask &= _bool_mask([not tags.isdisjoint(found) for found in searcher.column("tags")])
    mask &= _speaker_key_path_mask(searcher, query)
    mask &= _time_range_mask(searcher, query.since, query.until)
    if query.phrases or query.excluded:
        # Last, as each row that is left has to be read.
        mask = worded(searcher, query, mask)
    return mask


def restrict_to_caller(searcher: Searcher, query: Query) -> Searcher:
    """Restrict the searcher to rows the caller may see, so that hidden rows influence no score.

    How rare a word is, what else was said that day: whatever a score is made of is counted
    over these rows alone, as if there were no others.
    """
    if query.within is None:
        return searcher
    of = (query.session, query.project, query.agent, query.user)
    name = (frozenset(query.within), *of)
    return searcher.view(name, lambda: visible_rows(searcher, query) & _owner_mask(searcher, query))


def _owner_mask(searcher: Searcher, query: Query) -> Bools:
    """Return the rows of the session, the project, the agent and the user that are named."""
    mask = np.ones(len(searcher), dtype=bool)
    if query.session:
        # What is remembered for one session alone lies in notes, which are in no session.
        own = [f"session:{id}" for id in query.session]
        mask &= _column_mask(searcher, "session", query.session) | _column_mask(
            searcher, "scope", own
        )
    for name in ("project", "agent", "user"):
        if getattr(query, name):
            mask &= _column_mask(searcher, name, {getattr(query, name)})
    return mask


def visible_rows(searcher: Searcher, query: Query) -> Bools:
    """Return the rows that the caller may see: the shared ones and their own."""
    if query.within is None:
        return np.broadcast_to(True, len(searcher))
    scopes = {SHARED, *query.within}
    mask: Bools = searcher.column("scope").among(scopes)
    return mask


def marked(searcher: Searcher, query: Query, mask: Bools) -> Floats:
    """Return what rows earn by the filters alone: phrases count, a bare filter lists by age."""
    if query.phrases:
        return np.where(mask, MARKED, 0.0)
    # A bare "type:decision" asks for a list: newest first, as nothing else can order it.
    if query.text.strip() or query == _strip_filters(query):
        return np.broadcast_to(0.0, len(searcher))
    at = np.nan_to_num(searcher.once("at", lambda: searcher.column("at").numbers()))
    # By rank and not by age: one note of ten years ago must not press all others together.
    moments, ages = np.unique(at[mask], return_inverse=True)
    listed = np.zeros(len(searcher))
    listed[mask] = (1 + ages) / max(1, len(moments))
    return listed


def _strip_filters(query: Query) -> Query:
    """Return the query without its filters."""
    return Query(
        text=query.text, limit=query.limit, min_score=query.min_score, hops=query.hops,
        within=query.within, min_relevance=query.min_relevance,
        vector_weight=query.vector_weight, fusion=query.fusion, turn_days=query.turn_days,
    )  # fmt: skip


def holding(searcher: Searcher, query: Query) -> Bools:
    """Return the rows that hold as far as a query is concerned: now, or as of its moment."""
    if query.valid_at is None:
        return standing(searcher, query.status)

    mask = rows_held_at(searcher, query.valid_at)
    return mask & _column_mask(searcher, "status", query.status) if query.status else mask


def standing(searcher: Searcher, status: Collection[str] = ()) -> Bools:
    """Return the rows of these statuses; without any, those that still hold.

    A turn that was forgotten counts as archived.
    """
    gone = forgotten(searcher)
    if not status:
        return searcher.once("shown", lambda: ~_column_mask(searcher, "status", HIDDEN)) & ~gone
    mask = _column_mask(searcher, "status", status) & ~gone
    return mask | gone if Status.ARCHIVED in status else mask


def _column_mask(searcher: Searcher, name: str, wanted: Collection[str]) -> Bools:
    mask: Bools = searcher.column(name).among(wanted)
    return mask


def _bool_mask(values: list[bool]) -> Bools:
    return np.asarray(values, dtype=bool)


def _speaker_key_path_mask(searcher: Searcher, query: Query) -> Bools:
    """Return the rows said by the speakers, under the keys, in the files of a query."""
    mask = np.ones(len(searcher), dtype=bool)
    if query.speaker:
        names = frozenset(map(normalise, query.speaker))
        said = zip(searcher.column("speaker"), searcher.column("role"), strict=True)
        mask &= _bool_mask([bool(names & {normalise(who), role}) for who, role in said])
    if query.key:
        mask &= _any_match_mask(searcher.column("key"), query.key, _is_under_key)
    if query.path:
        paths = [searcher.path(row) for row in range(len(searcher))]
        mask &= _any_match_mask(paths, query.path, _is_under_path)
    return mask


def _any_match_mask(
    values: Collection[str], wanted: tuple[str, ...], holds: Callable[[str, str], bool]
) -> Bools:
    # Each different key or path once: thousands of rows share a few of them.
    known = {value: any(holds(value, one) for one in wanted) for value in set(values)}
    return _bool_mask([known[value] for value in values])


def _is_under_key(key: str, wanted: str) -> bool:
    return key == wanted or key.startswith(f"{wanted}.") or fnmatchcase(key, wanted)


def _is_under_path(path: str, wanted: str) -> bool:
    folder = wanted.removesuffix("/")
    return path == folder or path.startswith(f"{folder}/") or fnmatchcase(path, wanted)


def _time_range_mask(searcher: Searcher, since: datetime | None, until: datetime | None) -> Bools:
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
