"""What there is for the jobs of days and weeks to read, distinguished without reading it again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from kimi_memory.config import Settings
from kimi_memory.domain.job import digest_of
from kimi_memory.domain.note import HAND, LIVE, Status
from kimi_memory.domain.pages import Day, Event
from kimi_memory.domain.session import STATEMENTS, Session, scope_of
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.jsonl import read_transcript_lines
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store

_REMEMBERED = re.compile(rf"{STATEMENTS}\d{{8}}(?=[-#.])")

# A line of a day's page names its session: `[[session_s1]]`, also with `|text` or `#2`.
_LINK = re.compile(r"\[\[session_([^\]|#]+)")


class News:
    """Sessions and events by their days, and what waits for any job that comes.

    Args:
        store: where the sessions lie.
        shelf: the notes as they are.
        now: the moment of the job.
        settings: the zone of the days, and after how long silence makes a card stale.
    """

    def __init__(self, store: Store, shelf: Shelf, now: datetime, settings: Settings) -> None:
        zone = settings.zone
        self._today = day_in(now, zone)
        self._ended: dict[date, list[str]] = defaultdict(list)
        self.past = tuple(_archived_sessions(store, shelf))
        """The headers of all shared sessions that have ended."""
        for one in sorted(self.past, key=lambda session: session.id):
            self._ended[day_in(one.started, zone)].append(one.id)
        self._note_marks: dict[date, list[str]] = defaultdict(list)
        for mark in _note_marks(shelf):
            self._note_marks[day_in(mark.at, zone)].append(mark.text)
        heads = shelf.heads()
        for at, id in _remembered_cards(shelf, heads):
            self._note_marks[day_in(at, zone)].append(id)
        self._day_of = {id: day for day, ids in self._ended.items() for id in ids}
        self._listed_sessions = dict(_listed_sessions(shelf))
        limit = timedelta(days=settings.consolidation.stale_days)
        # With the moment of its last change: a clock that was ahead may have had this day already.
        self._late = sorted(
            f"{one.id} {one.updated.isoformat()}"
            for one in heads
            if is_late(one, now) or is_early(one, now) or is_silent(one, now, limit)
        )
        self._suggesting = sorted(one.id for one in heads if one.suggests and one.status in LIVE)

    def days(self) -> list[date]:
        """Return the days that have something, oldest first, up to today."""
        late = {self._today} if self._late else set()
        known = {*self._ended, *self._note_marks, *self._listed_sessions, *late}
        # A clock that was ahead once leaves sessions of days to come.
        return sorted(day for day in known if day <= self._today)

    def weeks(self) -> list[date]:
        """Return the Mondays of the weeks that have such days, oldest first.

        Suggested links make this week one of them: they are confirmed whether anybody talks or not.
        """
        days = {*self._ended, *self._note_marks, *([self._today] if self._suggesting else ())}
        return sorted({monday_of(day) for day in days if day <= self._today})

    def ended(self, day: date) -> tuple[str, ...]:
        """Return the sessions of a day that have ended, by id."""
        return tuple(self._ended.get(day, ()))

    def moved(self, day: date) -> bool:
        """Whether the page of a day lists a session of another one, or another page one of its."""
        own, here = set(self.ended(day)), self._listed_sessions.get(day, frozenset())
        strange = any(self._day_of.get(id, day) != day for id in here)
        there = (id for other, ids in self._listed_sessions.items() if other != day for id in ids)
        return strange or not own.isdisjoint(set(there) - here)

    def of_day(self, day: date) -> str:
        """Return the digest of what the daily job of a day reads."""
        late = self._late if day == self._today else ()
        marks = self._note_marks.get(day, ())
        # By what the job reads: run again over the same, it would do the same, so it is not run.
        return digest_of(["daily", day.isoformat(), *self.ended(day), *marks, *late])

    def of_week(self, monday: date) -> str:
        """Return the digest of what the weekly job of a week reads."""
        days = [monday + timedelta(days=n) for n in range(7)]
        marks = [mark for day in days for mark in self._note_marks.get(day, ())]
        ended = [id for day in days for id in self.ended(day)]
        suggesting = self._suggesting if monday == monday_of(self._today) else ()
        return digest_of(["weekly", name_of(monday), *marks, *ended, *suggesting])


def monday_of(day: date) -> date:
    """Return the first day of a day's week."""
    return day - timedelta(days=day.weekday())


def name_of(monday: date) -> str:
    """Return what the ISO week of a Monday is called."""
    return f"{monday.isocalendar().year}-W{monday.isocalendar().week:02d}"


def is_late(head: Head, now: datetime) -> bool:
    """Whether a card is held to be so beyond the moment at which that was to end."""
    if (head.expires is None and head.valid_to is None) or head.status not in LIVE:
        return False
    ends = [head.expires] if head.status is Status.CONFLICTED else [head.expires, head.valid_to]
    return any(end is not None and end <= now for end in ends)


def is_early(head: Head, now: datetime) -> bool:
    """Whether a card left memory for the end of its time, which has not come yet.

    That is what a job did while the clock was ahead. Who archives a card by hand does so before.
    """
    ends = {Status.ARCHIVED: head.expires, Status.SUPERSEDED: head.valid_to}
    end = ends.get(head.status)
    return end is not None and head.updated >= end > now


def is_silent(head: Head, now: datetime, limit: timedelta) -> bool:
    """Whether silence makes a card stale, or made it so only while the clock was ahead."""
    if head.status is Status.ACTIVE:
        return not head.stands and now - head.seen > limit
    return is_doubted_early(head, now, limit)


def is_doubted_early(head: Head, now: datetime, limit: timedelta) -> bool:
    """Whether a card became stale at a moment that has not come yet, and was said lately."""
    return head.status is Status.STALE and head.updated > now and now - head.seen <= limit


def _archived_sessions(store: Store, shelf: Shelf) -> Iterator[Session]:
    """Yield the headers of the archived sessions that are shared, as far as jobs need them."""
    for place in sessions.places(store):
        # What people wrote by hand is in cards at once; no job has to read it.
        if not place.open and not place.id.startswith(HAND):
            found = shelf.survey.fact(place.path, "header", _header_in(place.path), list)
            if found is not None and not found[1]:  # The page of the day is everybody's.
                began, _, agent, user, project = found
                started = datetime.fromisoformat(began)
                yield Session(place.id, started, agent=agent, user=user, project=project)


def _header_in(path: str) -> Callable[[bytes], list[str] | None]:
    """Return what tells start, scope, agent, user and project of a session by its content."""

    def read(content: bytes) -> list[str] | None:
        try:
            transcript = read_transcript_lines(content.splitlines(keepends=True), path)
        except FormatError:
            return None  # 'distil' reports it.
        session = transcript.session
        began = session.started.isoformat()
        return [began, scope_of(session), session.agent, session.user, session.project]

    return read


def _listed_sessions(shelf: Shelf) -> Iterator[tuple[date, frozenset[str]]]:
    """Yield the days that have a page, with the sessions it lists."""
    for entry in shelf.entries().values():
        if entry.kind == Day.kind:
            found = shelf.survey.fact(entry.path, "lists", _lists_in(entry.path), _lists_of)
            if found is not None:
                yield date.fromisoformat(found[0]), frozenset(found[1:])


def _lists_in(path: str) -> Callable[[bytes], list[str] | None]:
    """Return what tells the day of a page and the sessions on it."""

    def read(content: bytes) -> list[str] | None:
        note = codec.read_note(content, path)
        return [note.date.isoformat(), *_session_links(note)] if isinstance(note, Day) else None

    return read


def _lists_of(row: list[Any]) -> list[str]:
    return row


def _session_links(day: Day) -> Iterator[str]:
    for line in day.sessions:
        yield from _LINK.findall(line)


class _Mark(NamedTuple):
    """What tells an event from an earlier state of it."""

    at: datetime
    text: str


def _note_marks(shelf: Shelf) -> Iterator[_Mark]:
    """Yield the marks of all events that stand, in order of path."""
    for path in sorted(e.path for e in shelf.entries().values() if e.kind == Event.kind):
        mark = shelf.survey.fact(path, "event", _mark_in(path), _mark_of)
        if mark is not None:
            yield mark


def _remembered_cards(shelf: Shelf, heads: Iterable[Head]) -> Iterator[tuple[datetime, str]]:
    """Yield the cards that somebody asked to remember, by the moment at which they did."""
    entries = shelf.entries()
    known = [(entries[head.id], head.seen) for head in heads if head.id in entries]
    for card, seen in sorted(known, key=lambda one: one[0].path):
        if any(_REMEMBERED.match(mark) for mark in card.quotes):
            yield seen, card.id


def _mark_in(path: str) -> Callable[[bytes], _Mark | None]:
    def read(content: bytes) -> _Mark | None:
        note = codec.read_note(content, path)
        if not isinstance(note, Event) or note.status is Status.ARCHIVED:
            return None
        return _Mark(note.at, f"{note.id} {note.updated.isoformat()}")

    return read


def _mark_of(row: list[Any]) -> _Mark:
    return _Mark(datetime.fromisoformat(row[0]), row[1])
