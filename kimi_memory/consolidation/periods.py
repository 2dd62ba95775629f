"""The day and the week: what their jobs get to see, and the plans they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeVar

from kimi_memory.config import Settings
from kimi_memory.consolidation.overview import Overview
from kimi_memory.consolidation.plan import Plan, digest_of
from kimi_memory.consolidation.render import Render
from kimi_memory.consolidation.usage import Usage
from kimi_memory.host import Host
from kimi_memory.model.card import Card
from kimi_memory.model.event import Event
from kimi_memory.model.note import Lang, Note, Status
from kimi_memory.model.pages import Identity, Project
from kimi_memory.model.step import DayView, Step, WeekView
from kimi_memory.store import sessions
from kimi_memory.store.shelf import Shelf
from kimi_memory.store.store import Store

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

    def days(self) -> list[date]:
        """Return the days that have sessions or events, oldest first, up to today."""
        shelf = Shelf(self._store)
        days = {event.at.astimezone(UTC).date() for event in _events(shelf)}
        days |= set(self._session_days())
        return sorted(day for day in days if day <= self._now.date())

    def weeks(self) -> list[date]:
        """Return the Mondays of the weeks that have such days, oldest first."""
        return sorted({_monday(day) for day in self.days()})

    def plans(self, period: Period, day: date | None) -> list[Callable[[Shelf], Plan]]:
        """Return the planners of a day or week, or of all that have news, in order.

        Args:
            period: daily or weekly.
            day: the day, or any day of the week; None for all.
        """
        if period == "daily":
            return [self.day(one) for one in ([day] if day else self.days())]
        return [self.week(one) for one in ([_monday(day)] if day else self.weeks())]

    def day(self, day: date) -> Callable[[Shelf], Plan]:
        """Return the planner of the daily job for one day."""
        return lambda shelf: self._plan_day(shelf, day)

    def week(self, monday: date) -> Callable[[Shelf], Plan]:
        """Return the planner of the weekly job for the week that starts on `monday`."""
        return lambda shelf: self._plan_week(shelf, monday)

    def _plan_day(self, shelf: Shelf, day: date) -> Plan:
        events = tuple(e for e in _events(shelf) if e.at.astimezone(UTC).date() == day)
        ended = tuple(id for id, on in self._session_days_by_id() if on == day)
        view = DayView(
            date=day,
            now=self._now,
            lang=self._lang(events),
            events=events,
            cards=tuple(c for c in _notes(shelf, Card) if c.status is not Status.ARCHIVED),
            projects=tuple(_notes(shelf, Project)),
            sessions=ended,
            usage=self._usage.of(day),
            min_importance=self._settings.consolidation.daily_importance,
            stale_days=self._settings.consolidation.stale_days,
        )
        gathered = self._host.gather("consolidate_day", day=view)
        steps = tuple(step for found in gathered for step in found)
        cards = _after(view.cards, steps)
        name, lang = self._settings.memory.name, self._lang(cards)
        pages, left_out = Overview(Render(self._store, shelf), name, lang).changes(cards)
        marks = (f"{e.id} {e.updated.isoformat()}" for e in events)
        return Plan(
            kind="daily",
            subject=day.isoformat(),
            inputs=digest_of(["daily", day.isoformat(), *ended, *marks]),
            steps=steps,
            changes=(*pages, *self._usage.fold(day)),
            left_out=tuple(left_out),
        )

    def _plan_week(self, shelf: Shelf, monday: date) -> Plan:
        last = monday + timedelta(days=6)
        events = tuple(e for e in _events(shelf) if monday <= e.at.astimezone(UTC).date() <= last)
        view = WeekView(
            first=monday,
            last=last,
            now=self._now,
            lang=self._lang(events),
            events=events,
            cards=tuple(_notes(shelf, Card)),
            projects=tuple(_notes(shelf, Project)),
            identity=next(iter(_notes(shelf, Identity)), None),
        )
        gathered = self._host.gather("consolidate_week", week=view)
        name = f"{monday.isocalendar().year}-W{monday.isocalendar().week:02d}"
        marks = (f"{n.id} {n.updated.isoformat()}" for n in (*events, *view.projects))
        return Plan(
            kind="weekly",
            subject=name,
            inputs=digest_of(["weekly", name, *marks]),
            steps=tuple(step for found in gathered for step in found),
        )

    def _lang(self, notes: Sequence[Note]) -> Lang:
        """Return the language of a page over these notes."""
        chosen = self._settings.memory.language
        if chosen != "auto":
            return Lang(chosen)
        chinese = sum(note.lang is Lang.ZH for note in notes)
        return Lang.ZH if notes and chinese * 2 >= len(notes) else Lang.EN

    def _session_days(self) -> Iterable[date]:
        return (day for _, day in self._session_days_by_id())

    def _session_days_by_id(self) -> list[tuple[str, date]]:
        found = []
        for place in sessions.places(self._store):
            if not place.open:
                started = sessions.read(self._store, place.path).session.started
                found.append((place.id, started.astimezone(UTC).date()))
        return sorted(found)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _notes(shelf: Shelf, kind: type[T]) -> Iterable[T]:
    for filed in shelf.notes(kind.kind):
        if isinstance(filed.note, kind):
            yield filed.note


def _events(shelf: Shelf) -> Iterable[Event]:
    return (event for event in _notes(shelf, Event) if event.status is not Status.ARCHIVED)


def _after(cards: tuple[Card, ...], steps: tuple[Step, ...]) -> list[Card]:
    """Return the cards as they will be once the steps are done."""
    new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
    kept = [card for card in cards if card.id not in new]
    return [*kept, *(note for note in new.values() if isinstance(note, Card))]
