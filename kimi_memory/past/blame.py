"""Blame: since when a line or a field says what it says, by which job, from which turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime

from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.past import BlameLine, BlameTurn, Cause, Earlier
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.formats.checksum import unseal
from kimi_memory.formats.frontmatter import decode
from kimi_memory.jobs.trace import Evidence, Tracer
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.quotes import split_citation
from kimi_memory.past.beliefs import LIVE, Sees, statement_of
from kimi_memory.past.points import Point
from kimi_memory.past.reader import SHOWN, PastReader
from kimi_memory.past.table import State
from kimi_memory.store.git.read import LineOrigin
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


class Blame:
    """Blames what one memory says."""

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
            found = [one for own in chosen if (one := self._blame_field(own, field))]
            if found:
                yield from found
                return
        raise NotFoundError("note or key", what)

    def _blame_field(self, states: list[State], name: str) -> BlameLine | None:
        """Return since when a field says so; None for a note that the caller may not see."""
        notes = list(self._reader.notes_of(states))
        # A version that waits for a person's word says nothing yet.
        while notes and notes[-1] is None:
            notes.pop()
        states = states[: len(notes)]
        note = notes[-1] if notes else None
        if note is None or not self._is_shown(note):
            return None
        name = name or ("value" if isinstance(note, Card) else "title")
        says = [field_of(one, name) if one and self._is_shown(one) else None for one in notes]
        runs = list(_yield_runs(says))
        causes = self._reader.causes([states[first] for first in runs])
        before = [
            Earlier(said, cause)
            for first, cause in zip(runs[:-1], causes[:-1], strict=True)
            if (said := says[first]) is not None
        ]
        if name == "value" and isinstance(note, Card):
            before = [*self._replaced_by(note), *before]
        return BlameLine(
            states[-1].path, 0, says[-1] or "", note.id, name, causes[-1],
            tuple(self.turns_of(note)), tuple(reversed(before)),
        )  # fmt: skip

    def _replaced_by(self, card: Card) -> Iterator[Earlier]:
        """Yield what the cards said in whose place a card came."""
        for id in card.supersedes:
            line = self._blame_field(self._reader.table().states_of(id), "value")
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
        origins = self._reader.history.blame(place.commit, place.path, first, numbers[-1])
        causes = self._causes_of({one.commit for one in origins})
        found = (self._blame_plain_line(place, one, causes.get(one.commit)) for one in origins)
        shown = [one for one in found if one is not None]
        if not shown:
            raise NotFoundError("line", f"{place.path}:{first}")
        yield from shown

    def _blame_note_lines(
        self, place: _Place, note: str, lines: list[str], numbers: Iterable[int]
    ) -> Iterator[BlameLine]:
        """Yield lines of a note's own file; they are followed by its id, wherever it lay."""
        states = self._states_before(self._reader.table().states_of(note), place.commit)
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
            cause = self._reader.causes([states[first]])[0]
            turns = self.turns_of(current) if line.strip() else ()
            yield BlameLine(place.path, number, line, note, "", cause, tuple(turns))

    def _blame_plain_line(
        self, place: _Place, origin: LineOrigin, cause: Cause | None
    ) -> BlameLine | None:
        """Return a line of a page or a record; one that shows a card is that card's.

        Nothing is returned for a line that says what a person asked to forget.
        """
        table = self._reader.table()
        session = place.path.rpartition("session_")[2].removesuffix(".jsonl")
        shown = SHOWN.search(origin.text) if place.path.endswith(".md") else None
        if self._reader.hides(origin.text, {"memory", f"session:{session}"}):
            return None
        states = self._states_before(table.states_of(shown["id"]) if shown else [], place.commit)
        if states:
            found = self._blame_field(states, "")
            if found is None:
                return None
            return BlameLine(
                place.path, origin.number, origin.text, found.note, found.field, found.cause,
                found.turns, found.before,
            )  # fmt: skip
        turns = _turn_in(place, origin) if place.path.endswith(".jsonl") else ()
        return BlameLine(place.path, origin.number, origin.text, "", "", cause, tuple(turns))

    def _states_before(self, states: list[State], commit: str) -> list[State]:
        """Return the states up to a commit."""
        graph = self._reader.points.graph()
        if commit not in graph.index:
            raise HistoryError(f"Commit {commit[:10]} is on another branch. Merge it first.")
        places = graph.ancestors(commit)
        return [one for one in states if one.place in places]

    def _causes_of(self, commits: Iterable[str]) -> dict[str, Cause]:
        """Return what is known of commits that changed a file which is no note."""
        return {one.commit: one for one in self._reader.commits(commits)}

    def _is_shown(self, note: Note) -> bool:
        return not self._reader.is_barred(note) and self._sees(note)

    def turns_of(self, note: Note) -> Iterator[BlameTurn]:
        """Yield the turns a note rests on, as they stand in the sessions now."""
        tracer = Tracer(self._reader.store, self._reader.history)
        stones, project = self._reader.stones, getattr(note, "project", "")
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


def _turn_in(place: _Place, origin: LineOrigin) -> Iterator[BlameTurn]:
    """Yield the turn that a line of a session is."""
    try:
        record = unseal(origin.text.encode())
    except ValueError:
        return
    if record.get("kind") == "turn":
        session = place.path.rpartition("session_")[2].removesuffix(".jsonl")
        said, who = str(record.get("text", "")), str(record.get("speaker") or record.get("role"))
        source = f"session:{session}#{record.get('n')}"
        yield BlameTurn(source, who, None, said, place.path, origin.number, "supports", True)


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
