"""Pages that read: overview, what is held, search, timeline, the block for a prompt."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import Context, Hit, Query, Unit
from kimi_memory.errors import UsageError
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.memory_overview import overview
from kimi_memory.recall.browse import BANDS, SORTS, ListQuery
from kimi_memory.recall.engine import SUMMANDS
from kimi_memory.recall.happened import find_happened, find_last_happened
from kimi_memory.recall.query_parser import parse
from kimi_memory.web.drawing import heat
from kimi_memory.web.page_types import Asked, Redirect, View, link
from kimi_memory.web.schedule import list_schedule

PAGE = 50
HITS = 20
MOST_HAPPENED = 500
"""So much of a month is shown on one page."""
_HELD = ("kind", "type", "status", "project", "band", "q", "sort")
_KINDS = {"card": ("card",), "event": ("event",), "turn": ("turn",)}


class Choice(NamedTuple):
    """One value of a facet."""

    value: str
    number: int
    to: str
    chosen: bool


class Found(NamedTuple):
    """A hit as it is shown."""

    hit: Hit
    pieces: tuple[tuple[str, bool], ...]
    summands: Mapping[str, float]
    factors: Mapping[str, float]


def show_overview(memory: Memory, asked: Asked) -> View | Redirect:
    """Show what waits, what is held and what changed last."""
    if asked.caller.space:
        return Redirect(link("/held"))
    found = overview(memory)
    year = heat(max(found.days), [*found.days.values()])
    schedule = [one for one in list_schedule(memory) if one.ran or one.failed]
    values = {"found": found, "year": year, "schedule": schedule, "steps": []}
    if not found.statuses and not found.units.get("turn"):
        # What fills an empty memory: the caption of a command, and the command.
        place = shlex.quote(str(memory.root))
        values["steps"] = [
            ("step_hook", f"kimi-memory hook install --memory {place}"),
            ("step_ingest", f"kimi-memory ingest FILE --memory {place}"),
            ("step_remember", f'kimi-memory remember "…" --memory {place}'),
        ]
    return View("overview", "overview", values)


def show_held(memory: Memory, asked: Asked) -> View:
    """List what is held, with filters and counts."""
    given = {name: asked.get(name) for name in _HELD}
    query = _list_query(asked, given)
    listing = memory.browse(query)
    facets = {
        name: _choices(given, name, counts)
        for name, counts in listing.facets.items()
        if name != "kind"
    }
    more = link("/held", **given, after=listing.next) if listing.next else ""
    sorts = [Choice(one, 0, link("/held", **{**given, "sort": one}), one == query.sort)
             for one in SORTS]  # fmt: skip
    values = {"listing": listing, "facets": facets, "more": more, "given": given, "sorts": sorts}
    return View("held", "held", {**values, "first": not asked.get("after")})


def _list_query(asked: Asked, given: Mapping[str, str]) -> ListQuery:
    filters = Query(
        text="",
        kind=(given["kind"] or "card",),
        type=(given["type"],) if given["type"] else (),
        status=(given["status"],) if given["status"] else (),
        project=given["project"],
        phrases=(given["q"],) if given["q"] else (),
    )
    return ListQuery(
        filters=asked.caller.space.narrowed(filters),
        bands=(given["band"],) if given["band"] in BANDS else (),
        sort=given["sort"] or "newest",
        after=asked.get("after"),
        limit=PAGE,
    )


def _choices(given: Mapping[str, str], name: str, counts: Mapping[str, int]) -> list[Choice]:
    return [
        Choice(
            value, count, link("/held", **{**given, name: "" if given[name] == value else value}),
            given[name] == value,
        )
        for value, count in counts.items()
        if value and (count or given[name] == value)
    ]  # fmt: skip


def show_search(memory: Memory, asked: Asked) -> View:
    """Answer a question, and say why each line was found."""
    line, kind, at = asked.get("q"), asked.get("kind"), asked.get("at")
    values = {"q": line, "kind": kind, "at": at, "old": asked.get("old")}
    if not line:
        return View("search", "search", {**values, "answer": None, "problem": ""})
    try:
        query = _question(memory, asked, line)
        engine = memory.at(query.as_of).engine if query.as_of else memory.engine
        # Not `Memory.recall`: who looks around leaves no receipt.
        answer = engine.search(query)
    except UsageError as error:
        return View("search", "search", {**values, "answer": None, "problem": str(error)})
    words = [*engine.words.of_query(query, memory.now()), *query.phrases]
    shown = [_explain(asked.caller.space.shown(hit), words) for hit in answer.hits]
    return View("search", "search", {**values, "answer": answer, "shown": shown, "problem": ""})


def _question(memory: Memory, asked: Asked, line: str) -> Query:
    query = parse(line, memory.now(), limit=HITS)
    if kind := _KINDS.get(asked.get("kind")):
        query = replace(query, kind=kind)
    if at := asked.get("at"):
        query = replace(query, valid_at=_day_end(at, memory.now()))
    if asked.get("old") and not query.status:
        query = replace(query, status=tuple(one for one in Status if one is not Status.ARCHIVED))
    if asked.caller.space and query.as_of:
        raise UsageError("The past of a memory is seen whole. Ask without 'as_of'.")
    return asked.caller.space.narrowed(query)


def _day_end(text: str, now: datetime) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no date. Write one as 2026-02-27.") from error
    return datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=now.tzinfo)


def _explain(hit: Hit, words: Sequence[str]) -> Found:
    parts = hit.parts
    return Found(
        hit,
        tuple(mark(hit.snippet, words)),
        {name: value for name, value in parts.items() if name in SUMMANDS},
        {name: value for name, value in parts.items() if name not in SUMMANDS},
    )


def mark(text: str, words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text, and whether each is one of some words.

    The pieces are escaped one by one later: a word is never looked for in escaped text.
    """
    # Of Latin words the index knows the stem alone; single letters would mark half of a text.
    known = {one for one in words if len(one) > 1}
    if not known:
        yield text, False
        return
    marked = [False] * len(text)
    for one in known:
        # Each by itself, as words of Chinese overlap: 数据 and 据库 are both of 数据库.
        word = rf"(?<![A-Za-z]){re.escape(one)}[a-z]*" if one.isascii() else re.escape(one)
        for found in re.finditer(word, text, re.IGNORECASE):
            marked[found.start() : found.end()] = [True] * (found.end() - found.start())
    for is_word, run in groupby(zip(text, marked, strict=True), key=lambda pair: pair[1]):
        yield "".join(letter for letter, _ in run), is_word


class Day(NamedTuple):
    """What happened on a day, oldest first."""

    date: date
    units: tuple[Unit, ...]


def show_timeline(memory: Memory, asked: Asked) -> View:
    """Show events and cards of a month, day by day."""
    project = asked.get("project")
    filters = asked.caller.space.narrowed(
        Query(text="", kind=("event", "card"), project=project, status=tuple(Status))
    )
    named = memory.browse(ListQuery(filters=filters, limit=1, facets=("project",)))
    with memory.index.guard:
        searcher, now = memory.index.searcher(), memory.now()
        # Without a month that of the last thing that happened: an empty page tells nothing.
        month = _month(asked.get("month"), find_last_happened(searcher, filters, now) or now)
        after = (month.replace(day=28) + timedelta(days=4)).replace(day=1)
        found = find_happened(searcher, filters, (month, after), now, MOST_HAPPENED)
    dated = [(one.at.date(), one) for one in found.units if one.at]
    by_day = groupby(dated, key=lambda pair: pair[0])
    values = {
        "month": month,
        "project": project,
        "projects": [one for one in named.facets["project"] if one],
        "days": [Day(day, tuple(unit for _, unit in pairs)) for day, pairs in by_day],
        "left": found.left,
        "before": link("/timeline", month=f"{month - timedelta(days=1):%Y-%m}", project=project),
        "after": link("/timeline", month=f"{after:%Y-%m}", project=project),
    }
    return View("timeline", "timeline", values)


def _month(text: str, now: datetime) -> datetime:
    year, _, month = text.partition("-")
    if year.isdigit() and month.isdigit() and len(text) < 8:
        try:
            return datetime(int(year), int(month), 1, tzinfo=now.tzinfo)
        except ValueError:
            # The address was typed by hand, and has a month 13.
            pass
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def show_told(memory: Memory, asked: Asked) -> View:
    """Show the block that an agent would be given now."""
    purpose, query = asked.get("purpose", "start"), asked.get("q")
    budget = min(asked.number("budget", memory.settings.recall.context_tokens), 100_000)
    told, problem = Context("", 0, (), 0), ""
    if purpose not in ("start", "task", "live"):
        raise UsageError(f"{purpose[:40]!r} is no purpose. Use start, task or live.")
    if purpose == "start" or query:
        given = {"purpose": purpose, "query": query, "budget": budget, "counted": False}
        told = asked.caller.space.context(memory, given)
    else:
        problem = "told_needs"
    values = {"told": told, "purpose": purpose, "q": query, "budget": budget, "problem": problem}
    return View("told", "told", {**values, "at": in_zone(memory.clock(), memory.zone)})
