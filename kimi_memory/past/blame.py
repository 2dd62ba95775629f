"""Blame: since when a line or a field says what it says, by which job, from which turns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from kimi_memory.domain.note import LIVE, Card, Note
from kimi_memory.domain.past import BlameLine, BlameTurn, Cause, Earlier
from kimi_memory.domain.tombstone import Tombstones
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import unseal
from kimi_memory.jobs.trace import Evidence, Tracer
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.quotes import split_citation
from kimi_memory.past.beliefs import Sees, statement_of
from kimi_memory.past.causes import find_causes, find_commits
from kimi_memory.past.note_states import is_barred
from kimi_memory.past.points import Point
from kimi_memory.past.reader import SHOWN, PastReader
from kimi_memory.past.table import PastTable, State
from kimi_memory.store.notes.note_index import may_be_note, read_entry

# `notes/plan.md:12` or `notes/plan.md:12-14`.
_LINES = re.compile(r":(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?$")
_HIDDEN = frozenset({"id", "kind", "created", "updated"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A file as one commit had it, and the lines of it that are meant."""

    commit: str
    path: str
    content: bytes
    first: int
    last: int


class _Said(NamedTuple):
    """What a field of a note said, in each of its states."""

    note: Note
    field: str
    states: list[State]
    says: list[str | None]
    runs: list[int]
    """Where each of the values begins."""


class Blame:
    """Blames what one memory says, for one question."""

    def __init__(self, reader: PastReader, sees: Sees = lambda note: True) -> None:
        self._reader, self._sees = reader, sees

    def find(self, what: str, field: str = "", at: Point | None = None) -> list[BlameLine]:
        """Return where something comes from.

        Args:
            what: a path, ``path:12``, ``path:12-14``, a citation ``path#L2-L5``, the id of a
                note or the beginning of one, or a key.
            field: of a note, such as value, status, confidence; what it says if empty.
            at: blame it as it was at this point; the last commit if None.

        Raises:
            NotFoundError: there is no such thing, or it was forgotten.
            UsageError: a note has no such field, or a file not so many lines.
        """
        commit = at.commit if at else self._reader.points.graph().head
        place = self._find_place(what, commit)
        if place is None:
            return list(self._blame_notes(what, field, commit))
        entry = read_entry(place.path, place.content) if may_be_note(place.path) else None
        if entry is not None and (field or not place.first):
            return list(self._blame_notes(entry.id, field, commit))
        if field:
            raise UsageError(f"{place.path} is no note, so it has no field {field!r}. Name a line.")
        return list(self._blame_lines(place, entry.id if entry else ""))

    def _find_place(self, what: str, commit: str) -> _Place | None:
        path, first, last = split_citation(what)
        mark = _LINES.search(path)
        if not first and mark is not None:
            path, first = path[: mark.start()], int(mark["first"])
            last = max(first, int(mark["last"] or first))
        content = self._reader.history.contents([(commit, path)]).get((commit, path))
        if content is None:
            if first:
                raise NotFoundError("file in that version", path)
            return None
        if path.startswith("short-term/") and not path.endswith((".md", ".jsonl")):
            raise NotFoundError("file", path)
        return _Place(commit, path, content, first, last)

    def _blame_notes(self, what: str, field: str, commit: str) -> Iterator[BlameLine]:
        """Yield a field of a note, or of each live note of a key."""
        states = self._states_before(self._reader.find_states(what), commit)
        owned = {one.note: [other for other in states if other.note == one.note] for one in states}
        there = [own for own in owned.values() if own[-1].blob]
        live = [own for own in there if own[-1].status in LIVE]
        # Replaced cards of a key answer only where none is live, or where those that are wait for
        # a person's word.
        for chosen in (live, there):
            found = [one for one in self._blame_fields(chosen, field) if one is not None]
            if found:
                yield from found
                return
        raise NotFoundError("note or key", what)

    def _blame_fields(self, owned: Sequence[list[State]], name: str) -> list[BlameLine | None]:
        """Return since when a field of each note says so; None for one the caller may not see.

        Args:
            owned: the states of each note.
            name: of the field; what the note says if empty.
        """
        # Git is asked once for all notes: a page shows a card in each of its lines.
        notes = iter(self._reader.notes_of(chain.from_iterable(owned)))
        found = [self._find_runs(own, list(islice(notes, len(own))), name) for own in owned]
        firsts = [one.states[at] for one in found if one is not None for at in one.runs]
        causes = iter(find_causes(self._reader, firsts))
        tracer = Tracer(self._reader.store, self._reader.history)
        return [
            None
            if one is None
            else self._make_line(one, list(islice(causes, len(one.runs))), tracer)
            for one in found
        ]

    def _find_runs(self, states: list[State], notes: list[Note | None], name: str) -> _Said | None:
        """Return what a field said in each state; None for a note the caller may not see."""
        # A version that waits for a person's word says nothing yet.
        while notes and notes[-1] is None:
            notes.pop()
        note = notes[-1] if notes else None
        if note is None or not self._is_shown(note):
            return None
        name = name or ("value" if isinstance(note, Card) else "title")
        said = [field_of(one, name) if one and self._is_shown(one) else None for one in notes]
        line = self._reader.follow_value(states[: len(notes)], said)
        says = [said[at] for at in line]
        return _Said(note, name, [states[at] for at in line], says, list(_yield_runs(says)))

    def _make_line(self, found: _Said, causes: list[Cause], tracer: Tracer) -> BlameLine:
        note, says = found.note, found.says
        before = [
            Earlier(said, cause)
            for first, cause in zip(found.runs[:-1], causes[:-1], strict=True)
            if (said := says[first]) is not None
        ]
        if found.field == "value" and isinstance(note, Card):
            before = [*self._replaced_by(note), *before]
        return BlameLine(
            found.states[-1].path, 0, says[-1] or "", note.id, found.field, causes[-1],
            tuple(self.turns_of(note, tracer)), tuple(reversed(before)),
        )  # fmt: skip

    def _replaced_by(self, card: Card) -> Iterator[Earlier]:
        """Yield what the cards said in whose place a card came."""
        owned = [self._table.states_of(id) for id in card.supersedes]
        for line in self._blame_fields(owned, "value") if owned else ():
            if line is not None and line.cause is not None:
                yield from (*reversed(line.before), Earlier(line.text, line.cause))

    def _blame_lines(self, place: _Place, note: str) -> Iterator[BlameLine]:
        lines = decode(place.content, place.path).splitlines()
        first, last = place.first or 1, place.last or len(lines)
        if first > len(lines):
            raise UsageError(f"{place.path} has {len(lines)} lines. Name one of them.")
        numbers = range(first, min(last, len(lines)) + 1)
        if note:
            yield from self._blame_note_lines(place, note, lines, numbers)
            return
        shown = list(self._blame_plain_lines(place, numbers))
        if not shown:
            raise NotFoundError("line", f"{place.path}:{first}")
        yield from shown

    def _blame_note_lines(
        self, place: _Place, note: str, lines: list[str], numbers: Iterable[int]
    ) -> Iterator[BlameLine]:
        """Yield lines of a note's own file; they are followed by its id, wherever it lay."""
        states = self._states_before(self._table.states_of(note), place.commit)
        if not states:
            raise NotFoundError("note", note)
        contents = self._reader.history.blobs({one.blob for one in states if one.blob})
        texts = [contents.get(one.blob, b"").decode("utf-8", "replace") for one in states]
        current = self._reader.read(place.path, place.content)
        if current is None or not self._is_shown(current):
            raise NotFoundError("note", note)
        for number in numbers:
            line = lines[number - 1]
            held = [line if line in text.splitlines() else None for text in texts]
            # A line that was taken out and put back counts from its return.
            first = list(_yield_runs(held))[-1]
            cause = find_causes(self._reader, [states[first]])[0]
            turns = self.turns_of(current) if line.strip() else ()
            yield BlameLine(place.path, number, line, note, "", cause, tuple(turns))

    def _blame_plain_lines(self, place: _Place, numbers: range) -> Iterator[BlameLine]:
        """Yield lines of a page or a record; one that shows a card is that card's.

        Lines that say what a person asked to forget are left out.
        """
        session = place.path.rpartition("session_")[2].removesuffix(".jsonl")
        scopes = {"memory", f"session:{session}"}
        lines = place.content.decode("utf-8", "replace").split("\n")
        said = {number: lines[number - 1] for number in numbers if number <= len(lines)}
        said = {number: text for number, text in said.items() if not self._hides(text, scopes)}
        owned = self._find_cards(place, said)
        cards = dict(zip(owned, self._blame_fields(list(owned.values()), ""), strict=True))
        # Git goes through the history only for lines that are no card's.
        plain = [number for number in said if number not in cards]
        origins = self._reader.history.blame(place.commit, place.path, plain)
        causes = {one.commit: one for one in find_commits(self._reader, {*origins.values()})}
        for number, text in said.items():
            if number not in cards:
                turns = _turn_in(place, number, text) if place.path.endswith(".jsonl") else ()
                cause = causes.get(origins.get(number, ""))
                yield BlameLine(place.path, number, text, "", "", cause, tuple(turns))
            elif (found := cards[number]) is not None:
                yield replace(found, path=place.path, line=number, text=text)

    def _find_cards(self, place: _Place, lines: Mapping[int, str]) -> dict[int, list[State]]:
        """Return the states of the cards that lines of a page show, by the numbers of the lines."""
        if not place.path.endswith(".md"):
            return {}
        marks = {number: SHOWN.search(text) for number, text in lines.items()}
        known = self._ancestors(place.commit) if any(marks.values()) else set[int]()
        found = {
            number: [one for one in self._table.states_of(shown["id"]) if one.place in known]
            for number, shown in marks.items()
            if shown
        }
        return {number: states for number, states in found.items() if states}

    def _states_before(self, states: list[State], commit: str) -> list[State]:
        """Return the states up to a commit."""
        places = self._ancestors(commit)
        return [one for one in states if one.place in places]

    def _ancestors(self, commit: str) -> set[int]:
        graph = self._reader.points.graph()
        if commit not in graph.index:
            raise HistoryError(f"Commit {commit[:10]} is on another branch. Merge it first.")
        return graph.ancestors(commit)

    def _is_shown(self, note: Note) -> bool:
        return not is_barred(self._stones, note) and self._sees(note)

    @cached_property
    def _stones(self) -> Tombstones:
        # Whether they were changed would be looked up for each line and for each state of a note.
        return self._reader.stones

    def _hides(self, text: str, scopes: Collection[str]) -> bool:
        """Whether a line says what a person asked to forget, or shows such a card."""
        shown = SHOWN.search(text)
        gone = shown is not None and self._table.is_forgotten(shown["id"])
        return gone or self._stones.hides(text, scopes)

    @cached_property
    def _table(self) -> PastTable:
        return self._reader.table()

    def turns_of(self, note: Note, tracer: Tracer | None = None) -> Iterator[BlameTurn]:
        """Yield the turns a note rests on, as they stand in the sessions now.

        Args:
            note: the note.
            tracer: what read the sessions of other notes just now.
        """
        tracer = tracer or Tracer(self._reader.store, self._reader.history)
        stones, project = self._stones, getattr(note, "project", "")
        for one in tracer.evidence(note):
            scopes = {"memory", f"project:{project}", f"session:{one.source.session}"}
            yield from (turn for turn in _turns_in(one) if not stones.hides(turn.text, scopes))


def _turns_in(one: Evidence) -> Iterator[BlameTurn]:
    rel = str(one.source.rel)
    if not one.turns:
        yield BlameTurn(one.source.place, "", None, "", "", 0, rel, one.verified)
    for turn in one.turns:
        yield BlameTurn(
            f"session:{one.source.session}#{turn.n}", turn.speaker or str(turn.role), turn.at,
            turn.text, one.path, one.line, rel, one.verified,
        )  # fmt: skip


def _turn_in(place: _Place, number: int, text: str) -> Iterator[BlameTurn]:
    """Yield the turn that a line of a session is."""
    try:
        record = unseal(text.encode())
    except ValueError:
        return
    if record.get("kind") == "turn":
        session = place.path.rpartition("session_")[2].removesuffix(".jsonl")
        said, who = str(record.get("text", "")), str(record.get("speaker") or record.get("role"))
        source = f"session:{session}#{record.get('n')}"
        yield BlameTurn(source, who, None, said, place.path, number, "supports", True)


def _yield_runs(values: list[str | None]) -> Iterator[int]:
    """Yield where each run of equal values begins that is not None."""
    last: str | None = None
    for number, value in enumerate(values):
        if value is not None and value != last:
            yield number
        last = value


def field_of(note: Note, name: str) -> str:
    """Return a field of a note as text.

    Raises:
        UsageError: it has none of that name.
    """
    known = [one.name for one in fields(note) if one.name not in _HIDDEN]
    if name not in known:
        if name == "title" or not known:
            return statement_of(note)
        raise UsageError(f"A {note.kind} has no field {name!r}. Known are {', '.join(known)}.")
    value = getattr(note, name)
    if isinstance(value, tuple):
        return "; ".join(str(getattr(one, "text", one)) for one in value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
