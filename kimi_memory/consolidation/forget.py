"""Forgetting on a person's word: what falls with it, and what must not come back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from kimi_memory.config import Settings
from kimi_memory.consolidation.overview import Overview
from kimi_memory.consolidation.plan import Plan, digest_of
from kimi_memory.consolidation.render import Render
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.model.card import Card
from kimi_memory.model.change import Append, Change
from kimi_memory.model.event import Event
from kimi_memory.model.job import Op
from kimi_memory.model.note import Lang, Note, Status
from kimi_memory.model.pages import Day, Project
from kimi_memory.model.record import unseal
from kimi_memory.model.records import tombstone_line
from kimi_memory.model.source import Quote
from kimi_memory.model.step import Step
from kimi_memory.model.tombstone import Tombstone
from kimi_memory.store import sessions
from kimi_memory.store.shelf import Shelf, mark
from kimi_memory.store.store import Store
from kimi_memory.store.tombstones import TOMBSTONES
from kimi_memory.text.normal import normalise

_SHORTEST_LINE = 4

T = TypeVar("T", bound=Note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person wants forgotten: exactly one of a note, a key, a session."""

    note: str = ""
    """Id of a card or event, or a unique prefix."""
    key: str = ""
    session: str = ""
    """Id of a session, or a unique prefix; its continuations are named one by one."""
    why: str = ""
    hashed: bool = False
    """Whether the tombstone holds only the hash of the value."""


class Forget:
    """Plans what is archived, with its tombstones.

    Args:
        store: read for sessions and pages.
        settings: name and language of the overview page.
        by: who asks.
        now: the moment of the job.
    """

    kind = "forget"

    def __init__(self, store: Store, settings: Settings, by: str, now: datetime) -> None:
        self._store, self._settings, self._by, self._now = store, settings, by, now

    def plan(self, wanted: Wanted) -> Callable[[Shelf], Plan]:
        """Return the planner for what is wanted.

        Raises:
            UsageError: none, or more than one, of note, key and session is given.
        """
        if sum(map(bool, (wanted.note, wanted.key, wanted.session))) != 1:
            raise UsageError("Say what to forget: one note id, one key, or one session.")
        return lambda shelf: self._plan(shelf, wanted)

    def _plan(self, shelf: Shelf, wanted: Wanted) -> Plan:
        subject, gone, kept = self._chosen(shelf, wanted)
        why = wanted.why or "forgotten on request"
        steps = [Step(Op.FORGET, self._archived(note), why) for note in gone]
        steps += [Step(Op.REFINE, note, f"lost its evidence from {subject}") for note in kept]
        steps += self._pages(shelf, gone) if gone else []
        stones = self._stones(wanted, subject, gone)
        changes: list[Change] = []
        if stones:
            changes.append(Append(TOMBSTONES, tuple(map(tombstone_line, stones))))
        pages, left_out = self._overview(shelf, steps)
        return Plan(
            kind=self.kind,
            subject=subject,
            inputs=digest_of([self.kind, subject, *self._marks(shelf, [*gone, *kept])]),
            steps=tuple(steps),
            changes=(*changes, *pages),
            left_out=tuple(left_out),
            asked=True,
        )

    def _chosen(self, shelf: Shelf, wanted: Wanted) -> tuple[str, list[Note], list[Note]]:
        """Return the subject, the notes that fall, and those that lose evidence only."""
        if wanted.session:
            place = sessions.find(self._store, wanted.session)
            gone, kept = self._without_session(shelf, place.id)
            return place.id, gone, kept
        found = self._named(shelf, wanted)
        subject = wanted.key or found[0].id
        return subject, [*found, *_resting_on(shelf, found)], []

    def _named(self, shelf: Shelf, wanted: Wanted) -> list[Note]:
        if wanted.note:
            note = shelf.file(shelf.find(wanted.note).path).note
            if not isinstance(note, Card | Event):
                raise UsageError(f"{note.id} is a {note.kind}; cards and events are forgotten.")
            if note.status is Status.ARCHIVED:
                raise UsageError(f"{note.id} is archived already; nothing was changed.")
            return [note]
        found: list[Note] = [c for c in _all(shelf, Card) if c.key == wanted.key and _stands(c)]
        if not found:
            raise NotFoundError("card with the key", wanted.key)
        return found

    def _without_session(self, shelf: Shelf, id: str) -> tuple[list[Note], list[Note]]:
        gone: list[Note] = []
        kept: list[Note] = []
        for note in (*_all(shelf, Card), *_all(shelf, Event)):
            rest = tuple(source for source in note.sources if source.session != id)
            if not _stands(note) or len(rest) == len(note.sources):
                continue
            if not rest:
                gone.append(note)
            else:
                kept.append(without_evidence(note, id, self._now))
        return gone, kept

    def _archived(self, note: Note) -> Note:
        return replace(note, status=Status.ARCHIVED, updated=self._now)

    def _stones(self, wanted: Wanted, subject: str, gone: Iterable[Note]) -> list[Tombstone]:
        found = [self._stone(wanted, *about) for note in gone for about in _values(note)]
        if wanted.session and not self._is_barred(f"session:{subject}"):
            found.append(self._stone(wanted, f"session:{subject}", "", ""))
        return list(dict.fromkeys(found))

    def _is_barred(self, scope: str) -> bool:
        known = self._store.read(TOMBSTONES) if self._store.exists(TOMBSTONES) else b""
        return any(unseal(line).get("scope") == scope for line in known.splitlines())

    def _stone(self, wanted: Wanted, scope: str, key: str, value: str) -> Tombstone:
        words = normalise(value)
        hashed = wanted.hashed and bool(words)
        if hashed:
            words = hashlib.sha256(words.encode()).hexdigest()
        return Tombstone(scope, key, words, self._now, self._by, wanted.why, hashed)

    def _pages(self, shelf: Shelf, gone: Iterable[Note]) -> Iterator[Step]:
        """Take lines that repeat a forgotten note out of day and project pages."""
        lines = {normalise(text) for note in gone for text in _lines_of(note)}
        lines = {line for line in lines if len(line) >= _SHORTEST_LINE}
        pages: list[Day | Project] = [*_all(shelf, Day), *_all(shelf, Project)]
        for page in pages:
            cut = _cut(page, lines)
            if cut != page:
                yield Step(Op.REFINE, replace(cut, updated=self._now), "repeats what is forgotten")

    def _overview(self, shelf: Shelf, steps: Iterable[Step]) -> tuple[list[Change], list[str]]:
        new = {step.note.id: step.note for step in steps}
        cards = [new.get(card.id, card) for card in _all(shelf, Card)]
        whole = [card for card in cards if isinstance(card, Card)]
        lang = page_language(self._settings, whole)
        return Overview(Render(self._store, shelf), self._settings.memory.name, lang).changes(whole)

    def _marks(self, shelf: Shelf, notes: Iterable[Note]) -> list[str]:
        """Return what tells this forgetting from an earlier one of the same notes."""
        size = self._store.size(TOMBSTONES)
        paths = [shelf.find(note.id).path for note in notes]
        return [str(size), *(hashlib.sha256(self._store.read(p)).hexdigest() for p in paths)]


def page_language(settings: Settings, cards: Iterable[Card]) -> Lang:
    """Return the language of an overview of these cards."""
    chosen = settings.memory.language
    if chosen != "auto":
        return Lang(chosen)
    live = [card for card in cards if _stands(card)]
    chinese = sum(card.lang is Lang.ZH for card in live)
    return Lang.ZH if live and chinese * 2 >= len(live) else Lang.EN


def without_evidence(note: T, session: str, now: datetime) -> T:
    """Return a note without the sources and quotes of one session."""
    rest = tuple(source for source in note.sources if source.session != session)
    fresh = replace(note, sources=rest, updated=now)
    if isinstance(fresh, Card | Event):
        quotes = tuple(quote for quote in fresh.quotes if quote.session != session)
        return replace(fresh, quotes=quotes)
    return fresh


def _all(shelf: Shelf, kind: type[T]) -> Iterator[T]:
    for filed in shelf.notes(kind.kind):
        if isinstance(filed.note, kind):
            yield filed.note


def _stands(note: Note) -> bool:
    return note.status is not Status.ARCHIVED


def _quotes(note: Note) -> tuple[Quote, ...]:
    return note.quotes if isinstance(note, Card | Event) else ()


def _resting_on(shelf: Shelf, found: Iterable[Note]) -> Iterator[Note]:
    """Yield events that hold nothing but the words the found notes rest on."""
    quoted = {mark(quote) for note in found for quote in _quotes(note)}
    ids = {note.id for note in found}
    for event in _all(shelf, Event):
        marks = set(map(mark, event.quotes))
        if event.id not in ids and _stands(event) and marks and marks <= quoted:
            yield event


def _values(note: Note) -> Iterator[tuple[str, str, str]]:
    """Yield scope, key and value of everything that must not make the note again."""
    if not isinstance(note, Card | Event):
        return
    scope = f"project:{note.project}" if note.project else "memory"
    said = note.value if isinstance(note, Card) else note.content
    for value in (said, *(quote.text for quote in note.quotes)):
        if value.strip():
            yield scope, note.key, value


def _lines_of(note: Note) -> Iterator[str]:
    """Yield what pages show of a note."""
    if isinstance(note, Card):
        yield from (note.value, f"{note.key}: {' '.join(note.value.split())}")
    elif isinstance(note, Event):
        yield note.title


def _cut(page: Day | Project, lines: set[str]) -> Day | Project:
    def stays(text: str) -> bool:
        shown = normalise(text)
        # Before the title stand the date or the time and the type of the event.
        return not any(shown == line or shown.endswith((f" {line}", f":{line}")) for line in lines)

    def kept(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(filter(stays, texts))

    if isinstance(page, Day):
        return replace(page, events=kept(page.events), knowledge=kept(page.knowledge))
    return replace(
        page,
        progress=kept(page.progress),
        decisions=kept(page.decisions),
        preferences=kept(page.preferences),
        todos=tuple(todo for todo in page.todos if stays(todo.text)),
    )
