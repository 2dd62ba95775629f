"""What is held, and what a question finds, with the card beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Hit, Unit
from kimi_memory.domain.session import speaker_of
from kimi_memory.errors import KimiMemoryError
from kimi_memory.jobs.trace import Evidence
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.key_states import list_states
from kimi_memory.recall.browse import ListQuery
from kimi_memory.recall.query_parser import parse
from kimi_memory.store.notes import sessions
from kimi_memory.tui.desk import Desk
from kimi_memory.tui.rows import Cell, Page, Part, Row, one_line

# A terminal shows half of it; the next page is asked for on the way down.
PAGE = 100
# Searched anew at each letter that is typed.
HITS = 30
_SURE, _NAME = 5, 22
"""Columns for how sure it is, and for its key."""


class Held:
    """Every card that holds, by words and filters."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.with_old = False
        """Whether what was replaced or archived is listed as well."""

    def page(self, words: str, after: str) -> Page:
        """Return a hundred cards from a cursor on."""
        memory = self._desk.memory
        query = parse(words, memory.now())
        filters = replace(
            query,
            text="",
            kind=query.kind or ("card",),
            status=query.status or (tuple(Status) if self.with_old else ()),
            phrases=(*query.phrases, *query.text.split()),
        )
        listing = memory.browse(ListQuery(filters=filters, after=after, limit=PAGE, facets=()))
        return Page(tuple(map(_row_of, listing.units)), listing.total, listing.next)

    def detail(self, row: Row) -> Iterator[Part]:
        """Yield a card with what proves it and what it replaced."""
        return show_note(self._desk, row.id)


def _row_of(unit: Unit) -> Row:
    name = unit.key or unit.speaker or unit.kind
    sure = f"{unit.confidence:.2f}" if unit.kind == Card.kind else ""
    style = "" if unit.status in (Status.ACTIVE, "") else "strike"
    text = Cell(one_line(unit.title or unit.text), style)
    return Row(unit.id, (Cell(sure, "dim", _SURE), Cell(name, "bold", _NAME), text), unit.kind)


class Found:
    """What a question finds, best first."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._why: dict[str, list[Part]] = {}

    def page(self, words: str, after: str) -> Page:
        """Return the hits of a question; none without one."""
        memory = self._desk.memory
        if not words.strip():
            return Page((), 0)
        query = parse(words, memory.now(), limit=HITS)
        # Not `Memory.recall`: who looks around leaves no receipt.
        engine = memory.at(query.as_of).engine if query.as_of else memory.engine
        hits = engine.search(query).hits
        self._why = {}
        rows = []
        for hit in hits:
            self._why[hit.unit.id] = self._explain(hit)
            row = _row_of(hit.unit)
            sure, name, text = row.cells
            said = text._replace(text=one_line(hit.snippet))
            rows.append(row._replace(cells=(sure._replace(text=f"{hit.score:.2f}"), name, said)))
        return Page(tuple(rows), len(rows))

    def detail(self, row: Row) -> Iterator[Part]:
        """Yield what a hit says and why it was found; of a card also its proof."""
        yield from self._why.get(row.id, ())
        if row.kind in (Card.kind, Event.kind):
            yield "", ""
            yield from show_note(self._desk, row.id)

    def _explain(self, hit: Hit) -> list[Part]:
        parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
        score = self._desk.say["score"].format(score=f"{hit.score:.2f}")
        why = (f"{score}  ({parts})", "dim")
        return [(hit.snippet, ""), ("", ""), why, (hit.citation, "dim")]


def show_note(desk: Desk, id: str) -> Iterator[Part]:
    """Yield a note as a person reads it: what, whose, how sure, proof, what was before."""
    memory, say = desk.memory, desk.say
    found = memory.trace(id)
    note = found.note
    yield str(getattr(note, "value", "") or getattr(note, "title", "") or note.id), "bold"
    if isinstance(note, Card):
        since = in_zone(note.valid_from or note.created, memory.zone)
        kinds = (say[note.type], say[note.status])
        facts = (note.key, *kinds, note.project, f"{note.confidence:.2f}")
        yield "  ".join(filter(None, facts)), "dim"
        yield say["since"].format(day=f"{since:%Y-%m-%d}"), "dim"
    yield "", ""
    for proof in found.evidence:
        yield from _show_proof(desk, proof)
    states = list_states(memory, note)
    if states:
        yield say["states"], "bold"
    for unit in states:
        day = unit.valid_from or unit.at
        mark, style = ("→", "") if unit.id == note.id else ("·", "dim")
        at = f"{day:%Y-%m-%d}" if day else ""
        yield f"{mark} {at} {one_line(unit.title or unit.text)}", style
    yield "", ""
    yield f"{say['file']} {found.path}", "dim"
    yield note.id, "dim"


def _show_proof(desk: Desk, proof: Evidence) -> Iterator[Part]:
    memory, say = desk.memory, desk.say
    where = f"{proof.source.session} #{proof.source.first}"
    if not proof.path:
        yield f"{where}: {say['gone']}", "yellow"
        return
    mark = "✓" if proof.verified else "~"
    try:
        session = sessions.read(memory.store, proof.path).session
    except KimiMemoryError as error:
        yield f"{where}: {desk.tell(str(error))}", "yellow"
        return
    for turn in proof.turns:
        at = f"{in_zone(turn.at, memory.zone):%Y-%m-%d %H:%M}"
        who = speaker_of(turn, session)
        head = say["said_by"].format(mark=mark, who=who, at=at)
        yield f"{head}  {where}", "green" if proof.verified else "yellow"
        yield f"  {one_line(proof.quote or turn.text)}", ""
