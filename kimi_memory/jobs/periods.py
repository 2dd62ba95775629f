"""The day and the week: what their jobs get to see, and the plans they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import TypeVar

from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import DayView, Op, Plan, Spoken, Step, WeekView, digest_of
from kimi_memory.domain.note import Card, Lang, Note, Status
from kimi_memory.domain.pages import Agent, Day, Digest, Event, Identity, Project, Proposal
from kimi_memory.domain.session import SHARED, speaker_of
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.formats.card_form import Cards, Head
from kimi_memory.jobs.gates import TombstoneGate
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.pending import News, is_early, monday_of, name_of
from kimi_memory.jobs.planner import Done, JobContext, OneJob, Planner
from kimi_memory.jobs.usage import Usage
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.note_index import Entry
from kimi_memory.store.notes.notes import Shelf, read_tombstones

T = TypeVar("T", bound=Note)


def daily_jobs(context: JobContext, day: date | None, done: Done) -> dict[str, Planner]:
    """Return the jobs of a day, or of all days that have news, in order, by day."""
    periods = Periods(context)
    news = periods.news()
    # A day that a person names is done in any case: they see that something is missing there.
    days = news.days() if day is None else [day]
    ran = {one: done("daily", news.of_day(one)) for one in days}
    return {
        one.isoformat(): OneJob("daily", partial(periods.plan_day, one, ran[one]))
        for one in days
        if day is not None or not ran[one] or news.moved(one)
    }


def weekly_jobs(context: JobContext, day: date | None, done: Done) -> dict[str, Planner]:
    """Return the jobs of the week of a day, or of all weeks that have news, in order, by week."""
    periods = Periods(context)
    news = periods.news()
    weeks = news.weeks() if day is None else [monday_of(day)]
    return {
        name_of(one): OneJob("weekly", partial(periods.plan_week, one))
        for one in weeks
        if day is not None or not done("weekly", news.of_week(one))
    }


class Periods:
    """Plans the daily and the weekly job; weeks are ISO weeks of the memory's zone."""

    def __init__(self, context: JobContext) -> None:
        self._store, self._host = context.store, context.host
        self._settings, self._now = context.settings, context.clock()
        self._zone = context.settings.zone
        self._usage = Usage(self._store, self._zone)

    def news(self) -> News:
        """Return what is new, by day and week."""
        return News(self._store, Shelf(self._store), self._now, self._settings)

    def plan_day(self, day: date, again: bool, shelf: Shelf) -> Plan:
        """Plan the daily job for one day.

        Args:
            day: the day.
            again: the job ran over the same; only sessions that moved are a reason for more.
            shelf: the notes as they are.
        """
        news = News(self._store, shelf, self._now, self._settings)
        # What a clock that was ahead archived too early is looked at again.
        heads = [
            head
            for head in shelf.heads()
            if head.status is not Status.ARCHIVED or is_early(head, self._now)
        ]
        cards = Cards(heads, shelf.card)
        view = self._build_day_view(shelf, day, cards, news)
        found = [
            step
            for scope in _list_scopes(heads, view.events)
            for step in self._gather_steps("consolidate_day", scope, day=_day_of(view, scope))
        ]
        if not any(isinstance(step.note, Day) for step in found):
            found += _empty_day_page(shelf, day)
        inputs = news.of_day(day)
        if again and news.moved(day):
            # The same inputs ran before, and a job over those would be passed over.
            inputs = digest_of([inputs, "moved", self._now.isoformat()])
        steps, barred = TombstoneGate(read_tombstones(self._store)).steps(found, shelf)
        known = _cards_after(cards, steps)
        pages, left_out = Pages(self._store, shelf, self._settings).changes(known, steps=steps)
        return Plan(
            kind="daily",
            subject=day.isoformat(),
            inputs=inputs,
            steps=tuple(steps),
            changes=(*pages, *self._usage.fold(day)),
            left_out=(*barred, *left_out),
        )

    def _build_day_view(self, shelf: Shelf, day: date, cards: Cards, news: News) -> DayView:
        """Return what the daily job may look at."""
        events = tuple(self._read_events(shelf, day, day))
        digests = tuple(self._read_digests(shelf, day, day))
        return DayView(
            date=day,
            now=self._now,
            zone=self._zone,
            lang=self._choose_language((*events, *digests)),
            events=events,
            cards=cards,
            projects=tuple(_read_notes(shelf, Project)),
            sessions=news.ended(day),
            digests=digests,
            spoken=tuple(self._spoken_lines(digests)),
            agents=tuple(_read_notes(shelf, Agent)),
            past=news.past,
            usage=self._usage.count_shown(day),
            min_importance=self._settings.consolidation.daily_importance,
            stale_days=self._settings.consolidation.stale_days,
        )

    def plan_week(self, monday: date, shelf: Shelf) -> Plan:
        """Plan the weekly job for the week that starts on `monday`."""
        last = monday + timedelta(days=6)
        events, heads = tuple(self._read_events(shelf, monday, last)), shelf.heads()
        view = WeekView(
            first=monday,
            last=last,
            now=self._now,
            zone=self._zone,
            lang=self._choose_language(events),
            events=events,
            # A plugin looks at the heads of thousands and reads a few of them.
            cards=Cards(heads, shelf.card),
            projects=tuple(_read_notes(shelf, Project)),
            identity=next(iter(_read_notes(shelf, Identity)), None),
            digests=tuple(self._read_digests(shelf, monday, last)),
            accept=self._settings.introspect.accept,
        )
        steps = tuple(
            step
            for scope in _list_scopes(heads, events)
            for step in self._gather_steps("consolidate_week", scope, week=_week_of(view, scope))
            # What a person has not answered yet is not proposed to them again each week.
            if not _waits_already(step, shelf)
        )
        return Plan(
            kind="weekly",
            subject=name_of(monday),
            inputs=News(self._store, shelf, self._now, self._settings).of_week(monday),
            steps=steps,
        )

    def _read_events(self, shelf: Shelf, first: date, last: date) -> Iterator[Event]:
        """Yield the events of some days; of the others no file is read."""
        for filed in shelf.notes(Event.kind, self._may_be_of(first, last)):
            event = filed.note
            if not isinstance(event, Event) or event.status is Status.ARCHIVED:
                continue
            if first <= day_in(event.at, self._zone) <= last:
                yield event

    def _read_digests(self, shelf: Shelf, first: date, last: date) -> Iterator[Digest]:
        """Yield the shared digests of some days; of the others no file is read."""
        for filed in shelf.notes(Digest.kind, self._may_be_of(first, last)):
            note = filed.note
            if isinstance(note, Digest) and not note.scope and note.status is not Status.ARCHIVED:
                yield note

    def _spoken_lines(self, digests: Iterable[Digest]) -> list[Spoken]:
        """Return the lines of digests with the speaker and the moment of their turns."""
        found: list[Spoken] = []
        for digest in digests:
            try:
                place = sessions.find(self._store, digest.session)
                transcript = sessions.read(self._store, place.path)
            except (FormatError, NotFoundError):
                continue  # `doctor` names the session; its digest stays.
            turns = {turn.n: turn for turn in transcript.turns}
            for line in digest.lines:
                if turn := turns.get(line.last):
                    who = line.who or speaker_of(turn, transcript.session)
                    of = (line.text, line.first, line.last)
                    found.append(Spoken(turn.at, digest.session, who, *of))
        return sorted(found, key=lambda one: (one.at, one.session, one.last))

    def _may_be_of(self, first: date, last: date) -> Callable[[Entry], bool]:
        """Return what tells whether a note may be of some days; an odd stamp has to be read."""

        def may_fit(entry: Entry) -> bool:
            with suppress(ValueError):
                return first <= day_in(moment(entry.at), self._zone) <= last
            return True

        return may_fit

    def _gather_steps(self, hook: str, scope: str, **view: DayView | WeekView) -> Iterator[Step]:
        """Yield what plugins do with what is in one scope.

        A private scope gets cards and events of its own but no pages, which everybody reads.
        """
        for step in (step for found in self._host.gather(hook, **view) for step in found):
            if scope == SHARED:
                yield step
            # The plugin decides what becomes of it, never whose it is.
            elif isinstance(step.note, Card | Event):
                yield replace(step, note=replace(step.note, scope=scope))

    def _choose_language(self, notes: Sequence[Note]) -> Lang:
        """Return the language of a page over these notes."""
        chosen = self._settings.memory.language
        if chosen != "auto":
            return Lang(chosen)
        chinese = sum(note.lang is Lang.ZH for note in notes)
        return Lang.ZH if notes and chinese * 2 >= len(notes) else Lang.EN


def _read_notes(shelf: Shelf, kind: type[T]) -> Iterable[T]:
    for filed in shelf.notes(kind.kind):
        if isinstance(filed.note, kind):
            yield filed.note


def _waits_already(step: Step, shelf: Shelf) -> bool:
    """Whether a step proposes what waits for a person already, who is not asked anew."""
    entry = shelf.entries().get(step.note.id)
    if entry is None or not isinstance(step.note, Proposal):
        return False
    old = shelf.file(entry.path).note
    # What it rests on and how sure it is may differ by now; what it asks is the same.
    return isinstance(old, Proposal) and (old.target, old.section, old.text) == (
        step.note.target,
        step.note.section,
        step.note.text,
    )


def _empty_day_page(shelf: Shelf, day: date) -> Iterator[Step]:
    """Yield the page of a day on which nothing happened after all, without its lines."""
    for filed in shelf.notes(Day.kind):
        if isinstance(filed.note, Day) and filed.note.date == day:
            blank = replace(filed.note, sessions=(), events=(), knowledge=())
            yield Step(Op.REFINE, blank, "what stood here is of another day, or is gone")


def _list_scopes(heads: Iterable[Head], events: Iterable[Event]) -> list[str]:
    """Return the scopes there are, that of everybody first."""
    return sorted({SHARED, *(head.scope for head in heads), *(event.scope for event in events)})


def _day_of(day: DayView, scope: str) -> DayView:
    """Return what the daily job may look at in one scope."""
    events, cards = _in_scope(day, scope)
    if scope == SHARED:
        return replace(day, events=events, cards=cards)
    own = replace(day, events=events, cards=cards, projects=(), sessions=(), digests=())
    return replace(own, spoken=(), agents=(), past=())


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


def _cards_after(cards: Cards, steps: Iterable[Step]) -> list[Card | Head]:
    """Return the cards as they will be once the steps are done."""
    new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
    kept = [head for head in cards.heads if head.id not in new]
    return [*kept, *new.values()]
