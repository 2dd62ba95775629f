"""The day and the week: what their jobs get to see, and the plans they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeVar

from kimi_memory.config import Settings
from kimi_memory.consolidation.barred import Barred
from kimi_memory.consolidation.pages import Pages
from kimi_memory.consolidation.plan import Plan, digest_of
from kimi_memory.consolidation.usage import Usage
from kimi_memory.host import Host
from kimi_memory.model.card import Card
from kimi_memory.model.event import Event
from kimi_memory.model.head import Cards, Head
from kimi_memory.model.moment import moment
from kimi_memory.model.note import Lang, Note, Status
from kimi_memory.model.pages import Identity, Project
from kimi_memory.model.records import read_transcript_lines
from kimi_memory.model.step import DayView, Step, WeekView
from kimi_memory.store import sessions
from kimi_memory.store.shelf import Entry, Shelf
from kimi_memory.store.store import Store
from kimi_memory.store.tombstones import read_tombstones

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
        days = {_day(event.at) for event in _events(shelf)}
        days |= {day for _, day in self._session_days(shelf)}
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
        events = tuple(_events(shelf, day, day))
        ended = tuple(id for id, on in self._session_days(shelf) if on == day)
        heads = [head for head in shelf.heads() if head.status is not Status.ARCHIVED]
        cards = Cards(heads, shelf.card)
        view = DayView(
            date=day,
            now=self._now,
            lang=self._lang(events),
            events=events,
            cards=cards,
            projects=tuple(_notes(shelf, Project)),
            sessions=ended,
            usage=self._usage.of(day),
            min_importance=self._settings.consolidation.daily_importance,
            stale_days=self._settings.consolidation.stale_days,
        )
        gathered = self._host.gather("consolidate_day", day=view)
        found = (step for steps in gathered for step in steps)
        steps, barred = Barred(read_tombstones(self._store)).steps(found, shelf)
        known = _after(cards, steps)
        pages, left_out = Pages(self._store, shelf, self._settings).changes(known)
        marks = (f"{e.id} {e.updated.isoformat()}" for e in events)
        return Plan(
            kind="daily",
            subject=day.isoformat(),
            inputs=digest_of(["daily", day.isoformat(), *ended, *marks]),
            steps=tuple(steps),
            changes=(*pages, *self._usage.fold(day)),
            left_out=(*barred, *left_out),
        )

    def _plan_week(self, shelf: Shelf, monday: date) -> Plan:
        last = monday + timedelta(days=6)
        events = tuple(_events(shelf, monday, last))
        view = WeekView(
            first=monday,
            last=last,
            now=self._now,
            lang=self._lang(events),
            events=events,
            cards=tuple(_notes(shelf, Card)),
            projects=tuple(_notes(shelf, Project)),
            identity=next(iter(_notes(shelf, Identity)), None),
            accept=self._settings.introspect.accept,
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

    def _session_days(self, shelf: Shelf) -> list[tuple[str, date]]:
        """Return the archived sessions and the days they began on."""
        found = []
        for place in sessions.places(self._store):
            if not place.open:
                began = shelf.survey.fact(place.path, "began", _began_in(place.path))
                found.append((place.id, date.fromisoformat(began)))
        return sorted(found)


def _began_in(path: str) -> Callable[[bytes], str]:
    """Return what tells the day of a session by the content of its file."""

    def read(content: bytes) -> str:
        transcript = read_transcript_lines(content.splitlines(keepends=True), path)
        return _day(transcript.session.started).isoformat()

    return read


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _notes(shelf: Shelf, kind: type[T]) -> Iterable[T]:
    for filed in shelf.notes(kind.kind):
        if isinstance(filed.note, kind):
            yield filed.note


def _events(shelf: Shelf, first: date = date.min, last: date = date.max) -> Iterator[Event]:
    """Yield the events of some days; of the others no file is read."""

    def may_fit(entry: Entry) -> bool:
        try:
            return first <= _day(moment(entry.at)) <= last
        except ValueError:
            return True  # It is written in some other way, which reading the file will tell.

    for filed in shelf.notes(Event.kind, may_fit):
        event = filed.note
        if not isinstance(event, Event) or event.status is Status.ARCHIVED:
            continue
        if first <= _day(event.at) <= last:
            yield event


def _after(cards: Cards, steps: Iterable[Step]) -> list[Card | Head]:
    """Return the cards as they will be once the steps are done."""
    new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
    kept = [head for head in cards.heads if head.id not in new]
    return [*kept, *new.values()]
