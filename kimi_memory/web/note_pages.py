"""Pages of one thing: a note with its proofs and history, a file, a session."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.graph import links_of
from kimi_memory.domain.job import digest
from kimi_memory.domain.note import Card, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.domain.session import Session, Transcript, Turn, speaker_of
from kimi_memory.errors import FormatError, KimiMemoryError, NotFoundError
from kimi_memory.formats.frontmatter import read as read_head
from kimi_memory.jobs.correct import EDITABLE
from kimi_memory.jobs.trace import Evidence
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.operations.key_states import list_states
from kimi_memory.operations.session_list import list_sessions
from kimi_memory.recall.evidence import find_outcome
from kimi_memory.server.reading import text_of
from kimi_memory.store.notes import sessions
from kimi_memory.web.edit_form import fill_form
from kimi_memory.web.page_types import Asked, View, link
from kimi_memory.web.reading_pages import mark

AROUND = 1
"""So many turns before and after a proof are shown with it."""
# A browser lays out so many turns at once without a pause.
TURNS = 100
# Each of them is read whole, for its turns.
SESSIONS = 50


class Line(NamedTuple):
    """A turn as it is shown."""

    n: int
    who: str
    turn: Turn
    pieces: tuple[tuple[str, bool], ...]
    cited: bool
    outcome: Sequence[Unit] = ()
    """What came of it."""


class Proof(NamedTuple):
    """A proof of a note, in its session."""

    evidence: Evidence
    lines: tuple[Line, ...]
    to: str


class Edge(NamedTuple):
    """A link of a note to another."""

    rel: str
    weight: float
    id: str
    title: str
    reason: str


def show_note(memory: Memory, asked: Asked) -> View:
    """Show a card, an event or another note, with what proves it and what it replaced."""
    filed = asked.caller.space.filed(memory, asked.get("id"))
    note = filed.note
    found = memory.trace(note.id)
    proofs = [_proof(memory, asked, one) for one in found.evidence]
    support = (one for one in proofs if one.evidence.source.rel == "supports")
    said = (line.who for one in support for line in one.lines if line.cited)
    values = {
        "note": note,
        "people": [*dict.fromkeys(said)],
        "was": digest(filed.text.encode()),
        "path": filed.path,
        "body": read_head(filed.text, filed.path).body,
        "proofs": proofs,
        "chain": list_states(memory, note, asked.caller.space.narrowed),
        "edges": list(_edges(memory, asked, note)),
        "commits": () if asked.caller.space else found.commits,
        "form": _form_of(memory, asked, note),
    }
    kind = "note" if isinstance(note, Card | Event) else "file"
    return View(kind, str(getattr(note, "title", "")) or filed.path, values)


def _form_of(memory: Memory, asked: Asked, note: Note) -> Mapping[str, object]:
    """Return the form in which a person corrects a note; an empty one where nobody may."""
    if asked.caller.space or not isinstance(note, Card) or note.status not in EDITABLE:
        return {}
    return fill_form(note, memory.zone)


def _proof(memory: Memory, asked: Asked, one: Evidence) -> Proof:
    source = one.source
    if not one.path or not asked.caller.space.holds_path(memory, one.path):
        return Proof(one, (), "")
    place = link(f"/sessions/{source.session}", at=source.first)
    # The session may be purged or elsewhere; the quote itself is still shown.
    with suppress(KimiMemoryError):
        transcript = sessions.read(memory.store, one.path)
        first, last = source.first - AROUND, source.last + AROUND
        near = [turn for turn in transcript.turns if first <= turn.n <= last]
        lines = (
            _line(turn, transcript.session, memory.zone, one.quote, (source.first, source.last))
            for turn in near
        )
        return Proof(one, tuple(lines), f"{place}#t{source.first}")
    return Proof(one, (), place)


def _line(
    turn: Turn, session: Session, zone: Zone, quote: str = "", cited: tuple[int, int] = (0, 0)
) -> Line:
    at = turn.text.find(quote) if quote else -1
    inside = cited[0] <= turn.n <= cited[1]
    pieces: tuple[tuple[str, bool], ...] = ((turn.text, False),)
    if inside and at >= 0:
        end = at + len(quote)
        parts = ((turn.text[:at], False), (quote, True), (turn.text[end:], False))
        pieces = tuple(part for part in parts if part[0])
    moved = replace(turn, at=in_zone(turn.at, zone))
    return Line(turn.n, speaker_of(turn, session), moved, pieces, inside)


def _edges(memory: Memory, asked: Asked, note: Note) -> Iterator[Edge]:
    if not isinstance(note, Card):
        return
    for one in links_of(note):
        try:
            other = asked.caller.space.filed(memory, one.to).note
        except (NotFoundError, FormatError):
            continue
        title = str(getattr(other, "title", "")) or other.id
        yield Edge(str(one.rel), one.weight, other.id, title, one.reason)


def show_file(memory: Memory, asked: Asked) -> View:
    """Show a page of the memory by its path."""
    path, text = text_of(memory, asked.caller, asked.get("path"))
    body = read_head(text, path).body if path.endswith(".md") else text
    empty: tuple[object, ...] = ()
    values = {"note": None, "path": path, "body": body, "proofs": empty, "commits": empty}
    return View("file", path, values)


class Talk(NamedTuple):
    """A session in the list of all."""

    id: str
    open: bool
    session: Session | None
    turns: int
    problem: str = ""


def show_sessions(memory: Memory, asked: Asked) -> View:
    """List sessions, newest first."""
    places = list_sessions(memory)
    if asked.caller.space:
        places = [one for one in places if asked.caller.space.holds_path(memory, one.path)]
    first = asked.number("from", 0)
    talks = [_talk(memory, place) for place in places[first : first + SESSIONS]]
    more = link("/sessions", **{"from": first + SESSIONS}) if len(places) > first + SESSIONS else ""
    return View("sessions", "sessions", {"talks": talks, "total": len(places), "more": more})


def _talk(memory: Memory, place: sessions.Place) -> Talk:
    try:
        found = sessions.read(memory.store, place.path)
    except KimiMemoryError as error:
        # The list is shown even if one session is broken.
        return Talk(place.id, place.open, None, 0, str(error))
    return Talk(place.id, place.open, found.session, len(found.turns))


def show_session(memory: Memory, asked: Asked) -> View:
    """Show the turns of a session, a hundred a page."""
    id = asked.get("id")
    place = sessions.find(memory.store, id)
    if place.id != id or not asked.caller.space.holds_path(memory, place.path):
        raise NotFoundError("session", id)
    found = sessions.read(memory.store, place.path)
    outcome = _find_outcome(memory, asked, found)
    turns, words = _choose_turns(found, asked, outcome)
    first = min(asked.number("from", _page_of(turns, asked.number("at", 0))), len(turns))
    shown = turns[first : first + TURNS]
    values = {
        "place": place,
        "session": found.session,
        "started": in_zone(found.session.started, memory.zone),
        "lines": [
            _line(turn, found.session, memory.zone)._replace(
                pieces=tuple(mark(turn.text, words)), outcome=outcome.get(turn.n, ())
            )
            for turn in shown
        ],
        "total": len(turns),
        "all": len(found.turns),
        "first": first,
        "q": asked.get("q"),
        "led": asked.get("led"),
        "outcome": len({unit.id for units in outcome.values() for unit in units}),
        "masked": sum(turn.masked for turn in found.turns),
        "before": _page_link(id, asked, max(0, first - TURNS)) if first else "",
        "more": _page_link(id, asked, first + TURNS) if len(turns) > first + TURNS else "",
    }
    return View("session", id, values)


def _find_outcome(memory: Memory, asked: Asked, found: Transcript) -> Mapping[int, Sequence[Unit]]:
    every = Query(text="", status=tuple(one for one in Status if one is not Status.ARCHIVED))
    query = asked.caller.space.narrowed(every)
    with memory.index.guard:
        return find_outcome(
            memory.index.searcher(), found.session, found.turns, query, memory.now()
        )


def _choose_turns(
    found: Transcript, asked: Asked, outcome: Collection[int]
) -> tuple[Sequence[Turn], list[str]]:
    words = asked.get("q").casefold()
    turns = [turn for turn in found.turns if turn.n in outcome or not asked.get("led")]
    if not words:
        return turns, []
    return [turn for turn in turns if words in turn.text.casefold()], [words]


def _page_of(turns: Sequence[Turn], n: int) -> int:
    """Return where the page begins that shows a turn."""
    before = sum(turn.n < n for turn in turns)
    return before - before % TURNS


def _page_link(id: str, asked: Asked, first: int) -> str:
    return link(f"/sessions/{id}", q=asked.get("q"), led=asked.get("led"), **{"from": str(first)})
