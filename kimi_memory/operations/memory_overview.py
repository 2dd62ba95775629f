"""An overview of a memory by its index: what is held, what waits, what changed last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Status
from kimi_memory.domain.operation_types import Commit
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.jobs.undistilled import undistilled
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.open_questions import asking
from kimi_memory.operations.usage_report import day_starts, last_days
from kimi_memory.recall.browse import ListQuery
from kimi_memory.recall.day_counts import count_units, find_last
from kimi_memory.store.notes import sessions

_LATEST, _COMMITS, _YEAR = 6, 12, 365
_HAPPENED = ("turn", "event")
_ENDED = (Status.SUPERSEDED, Status.ARCHIVED)


@dataclass(frozen=True, slots=True)
class Overview:
    """What a person sees first of a memory."""

    cards: int
    """Those that hold."""
    types: Mapping[str, int]
    statuses: Mapping[str, int]
    """Of all cards, replaced and archived ones too."""
    projects: Mapping[str, int]
    bands: Mapping[str, int]
    week: tuple[int, int]
    """How many cards of the last seven days hold, new or changed, and how many ended."""
    units: Mapping[str, int]
    """How many units there are of each kind."""
    open_sessions: int
    ended_sessions: int
    waiting: int
    """Ended sessions that were not distilled yet."""
    asks: Mapping[str, int]
    """How much waits for a person, by the command that deals with it."""
    latest: tuple[Unit, ...]
    """The cards that changed last."""
    commits: tuple[Commit, ...]
    """The last commits, newest first."""
    pending: int
    """Files that are not in the index on disk yet."""
    broken: tuple[tuple[str, str], ...]
    """Files that cannot be read, each with why; what they say is held by nothing."""
    days: Mapping[date, int]
    """How many turns and events there are of each day of a year."""


def overview(memory: Memory) -> Overview:
    """Return an overview; no note is read for it but those that wait for a person."""
    cards = Query(text="", kind=("card",))
    held = memory.browse(ListQuery(filters=cards, limit=_LATEST))
    lately = replace(cards, since=memory.now() - timedelta(days=7))
    changed = memory.browse(ListQuery(filters=lately, limit=1, facets=("status",)))
    ended = sum(changed.facets["status"].get(one, 0) for one in _ENDED)
    live = {**held.facets["status"]}
    places = list(sessions.places(memory.store))
    commits = memory.history.log(limit=_COMMITS) if memory.history.ready() else []
    index = memory.index.status()
    return Overview(
        cards=held.total,
        types=held.facets["type"],
        statuses={name: live[name] for name in Status if name in live},
        projects={name: count for name, count in held.facets["project"].items() if name},
        bands=held.facets["band"],
        week=(changed.total, ended),
        units=held.facets["kind"],
        open_sessions=sum(place.open for place in places),
        ended_sessions=sum(not place.open for place in places),
        waiting=len(undistilled(memory.store)[0]),
        # Who waits is asked of every note: once for each state of the files.
        asks=memory.index.searcher().once("asking", lambda: asking(memory)),
        latest=held.units,
        commits=tuple(commits),
        pending=index.pending,
        broken=index.broken,
        days=_count_days(memory),
    )


def _count_days(memory: Memory) -> Mapping[date, int]:
    with memory.index.guard:
        searcher = memory.index.searcher()
        last = find_last(searcher, _HAPPENED, memory.now())
        days = last_days(memory, [last.date()] if last else [], _YEAR)
        counts = count_units(searcher, _HAPPENED, day_starts(memory, days))
    return dict(zip(days, counts, strict=True))
