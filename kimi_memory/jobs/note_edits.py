"""Edits that people made in files of cards and on pages of projects, taken in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from kimi_memory.domain.job import Op
from kimi_memory.domain.note import LIVE, Card, CardType, Rel, Status
from kimi_memory.domain.pages import Project
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import says_open
from kimi_memory.formats.page_lines import Line, marked, split_mark
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.store.git.earlier import find_contents
from kimi_memory.store.git.history import History
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.jobs.page_edits import Edits

N = TypeVar("N", Card, Project)

FEW = 8
"""Fewer lines than these may go at once."""
_DATE = len("2026-02-27 ")
_TYPES = {
    "todos": CardType.TASK_STATE,
    "decisions": CardType.DECISION,
    "risks": CardType.GOTCHA,
    "preferences": CardType.PREFERENCE,
}
"""The sections whose lines are cards."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One card that says something new since its file was edited."""

    path: str
    card: Card
    """As it stands there."""
    line: int
    """Where its value begins; 0 where that is not known."""
    before: Card | None
    """As it was; None where no history tells."""


def touched(store: Store, history: History, shelf: Shelf) -> Iterator[Touch]:
    """Yield the cards that were edited in their own files and say what none of their words prove.

    What came with evidence, as a merge or another machine brings it, is none of them.
    """
    marks = store.journal.edited()
    places = {e.path for e in shelf.entries().values() if e.kind == Card.kind} if marks else set()
    contents = {
        path: store.read(path)
        for path in sorted(places & marks.keys())
        if not shelf.survey.waits(path)
    }
    notes = {path: codec.read_note(content, path) for path, content in contents.items()}
    cards = {
        path: note
        for path, note in notes.items()
        if isinstance(note, Card) and note.status in LIVE and not _is_proven(note)
    }
    earlier = _find_earlier(history, {path: marks[path] for path in cards}, Card)
    for path, card in cards.items():
        before = earlier.get(path)
        # A corrected space or letter case says nothing new.
        if before is None or normalise(before.value) != normalise(card.value):
            yield Touch(path, card, _find_line_number(contents[path], card.value), before)


def _find_earlier(history: History, marks: Mapping[str, str], kind: type[N]) -> dict[str, N]:
    """Return notes as they were when their files had the content of a mark."""
    found = find_contents(history, marks)
    notes = {path: codec.read_note(content, path) for path, content in found.items()}
    return {path: note for path, note in notes.items() if isinstance(note, kind)}


def _is_proven(card: Card) -> bool:
    """Whether words that the card rests on say what it says."""
    # What speaks against the card cannot prove it.
    against = {source.quote for source in card.sources if source.rel is Rel.CONTRADICTS}
    value = normalise(card.value)
    said = (normalise(quote.text) for quote in card.quotes if quote.hash not in against)
    return any(value in words or words in value for words in said)


def _find_line_number(content: bytes, value: str) -> int:
    first = value.strip().split("\n", 1)[0]
    lines = content.decode("utf-8", "replace").splitlines()
    return next((n for n, line in enumerate(lines, 1) if first and first in line), 0)


@dataclass(frozen=True, slots=True)
class Edited:
    """A project page that was edited since a job wrote it."""

    path: str
    page: Project
    before: Project


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of a section."""

    section: str
    text: str
    done: bool = False


def edited_projects(store: Store, history: History, shelf: Shelf) -> Iterator[Edited]:
    """Yield the project pages whose lines differ from what was written last."""
    marks = store.journal.edited()
    places = {e.path for e in shelf.entries().values() if e.kind == Project.kind} if marks else ()
    edited = sorted(set(places) & marks.keys())
    earlier = _find_earlier(history, {path: marks[path] for path in edited}, Project)
    for path in filter(earlier.get, edited):
        page, before = codec.read_note(store.read(path), path), earlier[path]
        if not isinstance(page, Project):
            continue
        if _map_entries(page) != _map_entries(before):
            yield Edited(path, page, before)


def take_project(edited: Edited, edits: Edits, now: datetime, *, ticks_only: bool) -> None:
    """Give the cards of a page what its lines say now.

    Args:
        edited: the page, as it is and as it was.
        edits: what becomes of the cards.
        now: the moment of the job.
        ticks_only: an agent may have edited it, which can end a to-do and no more.
    """
    here, there = _map_entries(edited.page), _map_entries(edited.before)
    shared = [id for id in here if id in there and id in edits.cards]
    for id in shared:
        if here[id].done != there[id].done:
            _apply_tick(edits.cards[id], here[id], edits, now, edited.path)
    if not ticks_only:
        _rewrite_cards(shared, edited, edits)
        _archive_removed_cards(edited, edits)
        _add_new_cards(edited, edits)


def _rewrite_cards(shared: Iterable[str], edited: Edited, edits: Edits) -> None:
    """Give cards the words that their lines have now."""
    here, there = _map_entries(edited.page), _map_entries(edited.before)
    for id in shared:
        card, text = edits.live(id), here[id].text
        told = {normalise(there[id].text), normalise(card.value) if card else ""}
        if card is not None and normalise(text) not in told:
            edits.change(card, Line(text), edited.path)


def _archive_removed_cards(edited: Edited, edits: Edits) -> None:
    """Archive the cards whose lines are gone, unless the most of a page is."""
    here, there = _map_entries(edited.page), _map_entries(edited.before)
    # An editor that drops the mark at the end of a line has deleted nothing.
    gone = [id for id in there if id not in here and not _is_rewritten(there[id], edited.page)]
    cards = [card for id in gone if (card := edits.live(id)) is not None]
    if len(cards) >= FEW and len(cards) * 2 > len(there):
        edits.left_out.append(f"{edited.path}: {len(cards)} lines are gone; nothing was archived")
        return
    for card in cards:
        edits.drop(card, edited.path)


def _apply_tick(card: Card, entry: _Entry, edits: Edits, now: datetime, path: str) -> None:
    if entry.done and card.status in (Status.ACTIVE, Status.STALE, Status.CANDIDATE):
        over = replace(card, status=Status.SUPERSEDED, valid_to=now, updated=now)
        edits.put(Op.SUPERSEDE, over, f"ticked in {path}")
        for other in list(edits.cards.values()):
            if says_open(other, card) and edits.live(other.id):
                gone = replace(other, status=Status.SUPERSEDED, valid_to=now, updated=now)
                edits.put(Op.SUPERSEDE, gone, f"it says that {card.id} is open")
    elif not entry.done and card.status is Status.SUPERSEDED:
        again = replace(card, status=Status.ACTIVE, valid_to=None, verified=now, updated=now)
        edits.put(Op.REFINE, again, f"open again in {path}")


def _add_new_cards(edited: Edited, edits: Edits) -> None:
    """Make cards of the lines that a person wrote, and mark the lines with them."""
    page = edited.page
    for section, text in _find_new_lines(edited):
        card = edits.proposed(Line(text), edited.path, page.name)
        if card is not None:
            # A to-do is one at once; what else is so waits for a word.
            status = Status.ACTIVE if section == "todos" else card.status
            card = replace(card, type=_TYPES[section], project=page.name, status=status)
            edits.put(Op.ADD, card, f"a person wrote it into {edited.path}")
            page = _with_mark(page, section, text, card.id)
    if page != edited.page:
        edits.write(page, "its new lines are cards")


def _with_mark(page: Project, section: str, text: str, id: str) -> Project:
    if section == "todos":
        todos = (replace(t, id=id) if t.text == text and not t.id else t for t in page.todos)
        return replace(page, todos=tuple(todos))
    lines = (marked(line, id) if line == text else line for line in getattr(page, section))
    return replace(page, **{section: tuple(lines)})  # type: ignore[arg-type]  # lists of lines


def _find_new_lines(edited: Edited) -> Iterator[tuple[str, str]]:
    """Yield the lines without a mark that were not there before."""
    old = {normalise(text) for _, text, _, _ in _yield_card_lines(edited.before)}
    for section, text, id, done in _yield_card_lines(edited.page):
        if not id and not done and normalise(text) not in old:
            yield section, text


def _is_rewritten(entry: _Entry, page: Project) -> bool:
    """Whether a line stands there still, only without its mark."""
    return any(
        normalise(text) == normalise(entry.text)
        for _, text, id, _ in _yield_card_lines(page)
        if not id
    )


def _map_entries(page: Project) -> dict[str, _Entry]:
    return {
        id or text: _Entry(section, text, done)
        for section, text, id, done in _yield_card_lines(page)
    }


def _yield_card_lines(page: Project) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the section, the words, the id and the tick of every line that is a card's."""
    for todo in page.todos:
        yield "todos", todo.text, todo.id, todo.done
    for section in ("decisions", "risks", "preferences"):
        for line in getattr(page, section):
            text, id = split_mark(line)
            # The page shows decisions with their day first, which is no part of the card.
            dated = section == "decisions" and id and text[:4].isdigit()
            yield section, text[_DATE:] if dated else text, id, False
