"""The day and the week: what their jobs get to see, and the plans they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Literal, TypeVar

from kimi_memory.config import Settings
from kimi_memory.consolidation.barred import Barred
from kimi_memory.consolidation.news import News, day_of, monday_of, name_of
from kimi_memory.consolidation.pages import Pages
from kimi_memory.consolidation.plan import Plan
from kimi_memory.consolidation.usage import Usage
from kimi_memory.host import Host
from kimi_memory.model.card import Card
from kimi_memory.model.digest import Digest
from kimi_memory.model.event import Event
from kimi_memory.model.head import Cards, Head
from kimi_memory.model.moment import moment
from kimi_memory.model.note import Lang, Note
from kimi_memory.model.pages import Identity, Project
from kimi_memory.model.scope import SHARED
from kimi_memory.model.status import Status
from kimi_memory.model.step import DayView, Step, WeekView
from kimi_memory.store.register import Entry
from kimi_memory.store.shelf import Shelf
from kimi_memory.store.store import Store
from kimi_memory.store.tombstones import read_stones

T = TypeVar("T", bound=Note)
Period = Literal["daily", "weekly"]


class Periods:
    """Plans the daily and the weekly job; days are UTC, weeks are ISO weeks.

    Args:
        store: the files.
        host: asked what to do with the period.
        settings: language and limits.
        now: the moment of the job.
    """

    def __init__(self, store: Store, host: Host, settings: Settings, now: datetime) -> None:
        self._store, self._host, self._settings, self._now = store, host, settings, now
        self._usage = Usage(store)

    def plans(
        self, period: Period, day: date | None, done: Callable[[str, str], bool]
    ) -> dict[str, Callable[[Shelf], Plan]]:
        """Return the planners of a day or week, or of all that have news, in order, by name.

        Args:
            period: daily or weekly.
            day: the day, or any day of the week; None for all.
            done: tells whether a job of a kind ran over inputs.
        """
        if day is None:
            days = self._with_news(period, done)
        else:
            days = [day] if period == "daily" else [monday_of(day)]
        if period == "daily":
            return {one.isoformat(): self.day(one) for one in days}
        return {name_of(one): self.week(one) for one in days}

    def _with_news(self, period: Period, done: Callable[[str, str], bool]) -> list[date]:
        news = News(self._store, Shelf(self._store), self._now)
        if period == "daily":
            return [one for one in news.days() if not done(period, news.of_day(one))]
        return [one for one in news.weeks() if not done(period, news.of_week(one))]

    def day(self, day: date) -> Callable[[Shelf], Plan]:
        """Return the planner of the daily job for one day."""
        return lambda shelf: self._plan_day(shelf, day)

    def week(self, monday: date) -> Callable[[Shelf], Plan]:
        """Return the planner of the weekly job for the week that starts on `monday`."""
        return lambda shelf: self._plan_week(shelf, monday)

    def _plan_day(self, shelf: Shelf, day: date) -> Plan:
        events = tuple(_events(shelf, day, day))
        news = News(self._store, shelf, self._now)
        heads = [head for head in shelf.heads() if head.status is not Status.ARCHIVED]
        cards = Cards(heads, shelf.card)
        view = DayView(
            date=day,
            now=self._now,
            lang=self._lang(events),
            events=events,
            cards=cards,
            projects=tuple(_notes(shelf, Project)),
            sessions=news.ended(day),
            usage=self._usage.of(day),
            min_importance=self._settings.consolidation.daily_importance,
            stale_days=self._settings.consolidation.stale_days,
        )
        found = [
            step
            for scope in _scopes(heads, events)
            for step in self._gathered("consolidate_day", scope, day=_day_of(view, scope))
        ]
        steps, barred = Barred(read_stones(self._store)).steps(found, shelf)
        known = _after(cards, steps)
        pages, left_out = Pages(self._store, shelf, self._settings).changes(known, steps=steps)
        return Plan(
            kind="daily",
            subject=day.isoformat(),
            inputs=news.of_day(day),
            steps=tuple(steps),
            changes=(*pages, *self._usage.fold(day)),
            left_out=(*barred, *left_out),
        )

    def _plan_week(self, shelf: Shelf, monday: date) -> Plan:
        last = monday + timedelta(days=6)
        events, heads = tuple(_events(shelf, monday, last)), shelf.heads()
        view = WeekView(
            first=monday,
            last=last,
            now=self._now,
            lang=self._lang(events),
            events=events,
            cards=Cards(heads, shelf.card),
            projects=tuple(_notes(shelf, Project)),
            identity=next(iter(_notes(shelf, Identity)), None),
            digests=tuple(_digests(shelf, monday, last)),
            accept=self._settings.introspect.accept,
        )
        steps = tuple(
            step
            for scope in _scopes(heads, events)
            for step in self._gathered("consolidate_week", scope, week=_week_of(view, scope))
        )
        return Plan(
            kind="weekly",
            subject=name_of(monday),
            inputs=News(self._store, shelf, self._now).of_week(monday),
            steps=steps,
        )

    def _gathered(self, hook: str, scope: str, **view: DayView | WeekView) -> Iterator[Step]:
        """Yield what plugins do with what is in one scope.

        What is somebody's own becomes nothing but cards and events of theirs: pages are
        everybody's.
        """
        for step in (step for found in self._host.gather(hook, **view) for step in found):
            if scope == SHARED:
                yield step
            elif isinstance(step.note, Card | Event):
                yield replace(step, note=replace(step.note, scope=scope))

    def _lang(self, notes: Sequence[Note]) -> Lang:
        """Return the language of a page over these notes."""
        chosen = self._settings.memory.language
        if chosen != "auto":
            return Lang(chosen)
        chinese = sum(note.lang is Lang.ZH for note in notes)
        return Lang.ZH if notes and chinese * 2 >= len(notes) else Lang.EN


def _notes(shelf: Shelf, kind: type[T]) -> Iterable[T]:
    for filed in shelf.notes(kind.kind):
        if isinstance(filed.note, kind):
            yield filed.note


def _events(shelf: Shelf, first: date = date.min, last: date = date.max) -> Iterator[Event]:
    """Yield the events of some days; of the others no file is read."""

    def may_fit(entry: Entry) -> bool:
        try:
            return first <= day_of(moment(entry.at)) <= last
        except ValueError:
            return True  # It is written in some other way, which reading the file will tell.

    for filed in shelf.notes(Event.kind, may_fit):
        event = filed.note
        if not isinstance(event, Event) or event.status is Status.ARCHIVED:
            continue
        if first <= day_of(event.at) <= last:
            yield event


def _digests(shelf: Shelf, first: date, last: date) -> Iterator[Digest]:
    """Yield the shared digests of some days; of the others no file is read."""

    def may_fit(entry: Entry) -> bool:
        with suppress(ValueError):
            return first <= day_of(moment(entry.at)) <= last
        return True

    for filed in shelf.notes(Digest.kind, may_fit):
        note = filed.note
        if isinstance(note, Digest) and not note.scope and note.status is not Status.ARCHIVED:
            yield note


def _scopes(heads: Iterable[Head], events: Iterable[Event]) -> list[str]:
    """Return the scopes there are, that of everybody first."""
    return sorted({SHARED, *(head.scope for head in heads), *(event.scope for event in events)})


def _day_of(day: DayView, scope: str) -> DayView:
    """Return what the daily job may look at in one scope."""
    events, cards = _in_scope(day, scope)
    if scope == SHARED:
        return replace(day, events=events, cards=cards)
    return replace(day, events=events, cards=cards, projects=(), sessions=())


def _week_of(week: WeekView, scope: str) -> WeekView:
    """Return what the weekly job may look at in one scope."""
    events, cards = _in_scope(week, scope)
    if scope == SHARED:
        return replace(week, events=events, cards=cards)
    return replace(week, events=events, cards=cards, projects=(), identity=None, digests=())


def _in_scope(view: DayView | WeekView, scope: str) -> tuple[tuple[Event, ...], Sequence[Card]]:
    events = tuple(event for event in view.events if event.scope == scope)
    cards = Cards.of(view.cards)
    return events, cards.only(lambda head: head.scope == scope)


def _after(cards: Cards, steps: Iterable[Step]) -> list[Card | Head]:
    """Return the cards as they will be once the steps are done."""
    new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
    kept = [head for head in cards.heads if head.id not in new]
    return [*kept, *new.values()]
