"""Forgetting on a person's word: what is removed with it, and what must not come back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from kimi_memory.domain.job import Append, Change, Op, Plan, Step, digest_of
from kimi_memory.domain.note import Card, Note, Rel, Source, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Agent, Day, DigestLine, Event, Project, supporting
from kimi_memory.domain.tombstone import Tombstone, hash_of, keyed_hash
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.jobs.digests import cut_digests, lines_about
from kimi_memory.jobs.page_cuts import page_lines_of, without_lines, without_turns
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.planner import JobContext
from kimi_memory.nlp.basic.patterns import bare, normalise
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf, mark, read_tombstones

SHORTEST_WORDS = 8
"""Fewer bytes of words stand everywhere by chance."""
_SHORTEST_LINE = 4

T = TypeVar("T", bound=Note)


def check_wanted(wanted: Wanted) -> None:
    """Raise UsageError unless exactly one thing is wanted, and that with enough words."""
    named = (wanted.note, wanted.key, wanted.session, wanted.query, wanted.since or wanted.until)
    # Two of them could mean both or either; what is forgotten must never be a guess.
    if sum(map(bool, named)) != 1:
        raise UsageError("Say what to forget: one note id, one key, one session, words, or a time.")
    if wanted.query and len(bare(wanted.query).encode()) < SHORTEST_WORDS:
        raise UsageError(
            f"{wanted.query!r} is too short to forget by: it stands everywhere. "
            "Give at least 8 letters or 3 Chinese characters."
        )


@dataclass(slots=True)
class _Fall:
    """Everything a forget request removes."""

    subject: str
    gone: list[Note] = field(default_factory=list)
    """Notes that are archived."""
    kept: list[Note] = field(default_factory=list)
    """Notes that lose evidence only, as they will be."""
    sessions: list[str] = field(default_factory=list)
    """Sessions of which nothing is to be shown or learned again."""
    words: list[str] = field(default_factory=list)
    """Further words that must not be shown again."""

    @property
    def notes(self) -> list[Note]:
        """All of them."""
        return [*self.gone, *self.kept]


class Forget:
    """Plans what is archived, with its tombstones.

    Raises:
        UsageError: not exactly one thing is wanted.
    """

    kind = "forget"

    def __init__(self, context: JobContext, wanted: Wanted) -> None:
        check_wanted(wanted)
        self._context, self._wanted = context, wanted
        self._store, self._now = context.store, context.clock()
        self._keyed = context.store.journal.keyed

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        wanted = self._wanted
        fall = self._select_targets(shelf, wanted)
        why = wanted.why or "forgotten on request"
        steps = [Step(Op.FORGET, self._archive_note(note), why) for note in fall.gone]
        steps += [Step(Op.REFINE, n, f"lost its evidence from {fall.subject}") for n in fall.kept]
        turns = {(quote.session, quote.n) for note in fall.gone for quote in supporting(note)}
        lost = lines_about(fall.sessions, turns, fall.words)
        steps += self._clean_pages(shelf, fall.gone, lost)
        # A digest quotes the turns themselves, so its lines go though the digest stays.
        steps += cut_digests(shelf, lost, self._now)
        stones = self._build_tombstones(wanted, fall)
        changes: list[Change] = []
        if stones:
            changes.append(Append(TOMBSTONES, tuple(map(tombstone_line, stones))))
        pages, left_out = self._plan_page_changes(shelf, steps) if steps else ([], [])
        return Plan(
            kind=self.kind,
            subject=fall.subject,
            inputs=digest_of([self.kind, fall.subject, *self._input_marks(shelf, fall.notes)]),
            steps=tuple(steps),
            changes=(*changes, *pages),
            left_out=tuple(left_out),
            asked=True,
        )

    def _select_targets(self, shelf: Shelf, wanted: Wanted) -> _Fall:
        if wanted.session:
            id = sessions.find(self._store, wanted.session).id
            fall = self._select_by_source(shelf, lambda source: source.session == id, id)
            fall.sessions.append(id)
            return fall
        if wanted.since or wanted.until:
            return self._select_by_time(shelf, wanted)
        found = (
            self._find_by_words(shelf, wanted)
            if wanted.query
            else self._find_by_identifier(shelf, wanted)
        )
        subject = found[0].id if wanted.note else wanted.subject
        fall = _Fall(subject, [*found, *_resting_on(shelf, found)])
        fall.kept += self._drop_quoted_evidence(shelf, fall.gone)
        fall.words += [wanted.query] if wanted.query else []
        return fall

    def _find_by_identifier(self, shelf: Shelf, wanted: Wanted) -> list[Note]:
        if wanted.note:
            note = shelf.file(shelf.find(wanted.note).path).note
            if not isinstance(note, Card | Event):
                raise UsageError(f"{note.id} is a {note.kind}; cards and events are forgotten.")
            if note.status is Status.ARCHIVED:
                raise UsageError(f"{note.id} is archived already; nothing was changed.")
            return [note]
        found: list[Note] = [
            c for c in _yield_notes(shelf, Card) if c.key == wanted.key and _is_not_archived(c)
        ]
        if not found:
            raise NotFoundError("card with the key", wanted.key)
        return found

    def _find_by_words(self, shelf: Shelf, wanted: Wanted) -> list[Note]:
        words = bare(wanted.query)
        return [
            note
            for note in (*_yield_notes(shelf, Card), *_yield_notes(shelf, Event))
            if _is_not_archived(note) and any(words in bare(text) for text in _note_texts(note))
        ]

    def _select_by_time(self, shelf: Shelf, wanted: Wanted) -> _Fall:
        """Select everything that rests on the turns of a span of time."""
        said: dict[str, set[int]] = {}
        fall = _Fall(wanted.subject)
        for place in sessions.places(self._store):
            turns = sessions.read(self._store, place.path).turns
            hit = [turn for turn in turns if _is_between(turn.at, wanted.since, wanted.until)]
            said[place.id] = {turn.n for turn in hit}
            # An open session cannot be barred as a whole: it goes on.
            if hit and len(hit) == len(turns) and not place.open:
                fall.sessions.append(place.id)
            else:
                fall.words += [turn.text for turn in hit]

        def gone(source: Source) -> bool:
            return said.get(source.session, set()).issuperset(range(source.first, source.last + 1))

        lost = self._select_by_source(shelf, gone, wanted.subject)
        return replace(fall, gone=lost.gone, kept=lost.kept)

    def _select_by_source(
        self, shelf: Shelf, lost: Callable[[Source], bool], subject: str
    ) -> _Fall:
        """Return what rests on some turns: alone it falls, else it loses that evidence."""
        fall = _Fall(subject)
        for note in (*_yield_notes(shelf, Card), *_yield_notes(shelf, Event)):
            if _is_not_archived(note) and any(map(lost, note.sources)):
                rest = bereaved(note, lost, self._now)
                if rest.sources:
                    fall.kept.append(rest)
                else:
                    fall.gone.append(note)
        return fall

    def _drop_quoted_evidence(self, shelf: Shelf, gone: Iterable[Note]) -> Iterator[Note]:
        """Yield cards that rest on the words of what goes, without that evidence."""
        gone = list(gone)
        ids = {note.id for note in gone}
        marks = {mark(quote) for note in gone for quote in supporting(note)}

        def lost(source: Source) -> bool:
            return f"{source.session}#{source.first} {source.quote}" in marks

        for card in _yield_notes(shelf, Card):
            if card.id in ids or not _is_not_archived(card) or not any(map(lost, card.sources)):
                continue
            rest = bereaved(card, lost, self._now)
            proven = any(source.rel is not Rel.CONTRADICTS for source in rest.sources)
            held = rest.status in (Status.ACTIVE, Status.STALE)
            # A card without any evidence waits for a person instead of standing unproven.
            yield replace(rest, status=Status.CANDIDATE) if held and not proven else rest

    def _archive_note(self, note: Note) -> Note:
        return replace(note, status=Status.ARCHIVED, updated=self._now)

    def _build_tombstones(self, wanted: Wanted, fall: _Fall) -> list[Tombstone]:
        found = [
            self._build_tombstone(wanted, *about)
            for note in fall.gone
            for about in _barred_values(note)
        ]
        found += [self._build_tombstone(wanted, "memory", "", words) for words in fall.words]
        for id in fall.sessions:
            if not self._is_barred(f"session:{id}"):
                found.append(self._build_tombstone(wanted, f"session:{id}", "", ""))
        # Compared without their moment, so that asking twice leaves one tombstone.
        known = {replace(s, at=self._now) for s in read_tombstones(self._store)}
        fresh = (s for s in found if s not in known)
        return list(dict.fromkeys(fresh))

    def _is_barred(self, scope: str) -> bool:
        return any(s.scope == scope and not s.value for s in read_tombstones(self._store))

    def _build_tombstone(self, wanted: Wanted, scope: str, key: str, value: str) -> Tombstone:
        words = normalise(value)
        # A list of forgotten passwords in plain text would be the best place to find them.
        hashed = bool(words) and (wanted.hashed or self._context.is_secret(value))
        words = keyed_hash(hash_of(bare(value)), self._keyed) if hashed else words
        return Tombstone(scope, key, words, self._now, self._context.actor.name, wanted.why, hashed)

    def _clean_pages(
        self, shelf: Shelf, gone: Iterable[Note], lost: Callable[[str, DigestLine], bool]
    ) -> Iterator[Step]:
        """Take lines that repeat a forgotten note or turn out of day and project pages."""
        lines = {normalise(text) for note in gone for text in page_lines_of(note)}
        # "ok" stands on every second page.
        lines = {line for line in lines if len(line) >= _SHORTEST_LINE}
        for page in (
            *_yield_notes(shelf, Day),
            *_yield_notes(shelf, Project),
            *_yield_notes(shelf, Agent),
        ):
            cut = without_turns(without_lines(page, lines), lost)
            if cut != page:
                yield Step(Op.REFINE, replace(cut, updated=self._now), "repeats what is forgotten")

    def _plan_page_changes(
        self, shelf: Shelf, steps: Sequence[Step]
    ) -> tuple[list[Change], list[str]]:
        new = {step.note.id: step.note for step in steps}
        cards = [new.get(card.id, card) for card in _yield_notes(shelf, Card)]
        whole = [card for card in cards if isinstance(card, Card)]
        return Pages(self._store, shelf, self._context.settings).changes(whole, steps=steps)

    def _input_marks(self, shelf: Shelf, notes: Iterable[Note]) -> list[str]:
        """Return what tells this forgetting from an earlier one of the same notes."""
        size = self._store.size(TOMBSTONES)
        paths = [shelf.find(note.id).path for note in notes]
        return [str(size), *(hashlib.sha256(self._store.read(p)).hexdigest() for p in paths)]


def bereaved(note: T, lost: Callable[[Source], bool], now: datetime) -> T:
    """Return a note without the sources that are lost, and without their quotes."""
    rest = tuple(source for source in note.sources if not lost(source))
    fresh = replace(note, sources=rest, updated=now)
    if isinstance(fresh, Card | Event):
        # A quote without a source of its own goes with its session.
        held = {(source.session, source.quote) for source in rest}
        told = {source.session for source in rest if not source.quote}
        quotes = tuple(
            quote
            for quote in fresh.quotes
            if (quote.session, quote.hash) in held or quote.session in told
        )
        return replace(fresh, quotes=quotes)
    return fresh


def without_evidence(note: T, session: str, now: datetime) -> T:
    """Return a note without the sources and quotes of one session."""
    return bereaved(note, lambda source: source.session == session, now)


def _yield_notes(shelf: Shelf, kind: type[T]) -> Iterator[T]:
    for filed in shelf.notes(kind.kind):
        if isinstance(filed.note, kind):
            yield filed.note


def _is_not_archived(note: Note) -> bool:
    return note.status is not Status.ARCHIVED


def _is_between(at: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


def _note_texts(note: Note) -> Iterator[str]:
    """Yield all that a note says."""
    if isinstance(note, Card | Event):
        yield from (note.title, *note.body_texts)
    yield from (quote.text for quote in supporting(note))


def _resting_on(shelf: Shelf, found: Iterable[Note]) -> Iterator[Note]:
    """Yield events that hold nothing but the words the found notes rest on."""
    quoted = {mark(quote) for note in found for quote in supporting(note)}
    ids = {note.id for note in found}
    for event in _yield_notes(shelf, Event):
        marks = set(map(mark, event.quotes))
        if event.id not in ids and _is_not_archived(event) and marks and marks <= quoted:
            yield event


def _barred_values(note: Note) -> Iterator[tuple[str, str, str]]:
    """Yield scope, key and value of everything that must not make the note again."""
    if not isinstance(note, Card | Event):
        return
    scope = note.scope or (f"project:{note.project}" if note.project else "memory")
    said = note.value if isinstance(note, Card) else note.content
    for value in (said, *(quote.text for quote in supporting(note))):
        if value.strip():
            yield scope, note.key, value
