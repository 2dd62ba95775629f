"""How long notes hold: events end with their card, and cards are kept for some time.

The file of an event whose card was replaced says that it holds no more. ``[ttl]`` says how long
cards are kept, `expires` of a card until when. The moment is set when a card is written, counted
from when it was last said. Said again, it moves; one that a person wrote into the card stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from kimi_memory.config import TtlTable
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, CardType, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.errors import FormatError, KimiMemoryError, NotFoundError
from kimi_memory.store.notes.note_index import Entry
from kimi_memory.store.notes.notes import Shelf

_HELD = frozenset({Status.ACTIVE, Status.CONFLICTED, Status.STALE})


def with_ended_events(
    steps: tuple[Step, ...], shelf: Shelf, *, asked: bool = False
) -> tuple[Step, ...]:
    """Return steps, and those that mark the events whose card the steps replace.

    An event that rests on anything else as well still says something, and stays as it is.

    Args:
        steps: what is going to be done.
        shelf: the notes as they are.
        asked: whether a person corrects: the new card then names the turns it corrects.
    """
    notes = {step.note.id: step.note for step in steps}
    cards = [note for note in notes.values() if isinstance(note, Card)]
    held = [card for card in cards if card.status in _HELD]
    replaced = [(old, new) for old in cards if (new := _find_successor(old, held)) is not None]
    if not replaced:
        return steps
    gone = {turn: new for old, new in replaced for turn in _turns_of(old)}
    # "I moved from Bern to Basel" proves the old card and the new one: it is not over.
    kept = set() if asked else {turn for _, new in replaced for turn in _turns_of(new)}
    ended = frozenset(gone) - kept
    found = (event for event in _yield_events(notes, shelf, ended) if ended >= _turns_of(event))
    more = [_ended_step(event, gone[min(_turns_of(event))]) for event in found]
    return (*steps, *more)


def _find_successor(old: Card, held: Iterable[Card]) -> Card | None:
    """Return the card that takes the place of a replaced one; None where it only ended."""
    if old.status is not Status.SUPERSEDED:
        return None
    same = ((new.key, new.project) == (old.key, old.project) for new in held)
    pairs = zip(held, same, strict=True)
    return next((new for new, alike in pairs if alike or old.id in new.supersedes), None)


def _yield_events(notes: dict[str, Note], shelf: Shelf, ended: frozenset[str]) -> Iterator[Event]:
    """Yield the active events that rest on some of these turns, as they will be."""
    for note in notes.values():
        if isinstance(note, Event) and note.status is Status.ACTIVE and note.quotes:
            yield note
    for entry in shelf.entries().values():
        if entry.id in notes or not _may_rest_on(entry, ended):
            continue
        try:
            note = shelf.file(entry.path).note
        except KimiMemoryError:
            continue  # A file that cannot be read is never rewritten.
        if isinstance(note, Event) and note.status is Status.ACTIVE and note.quotes:
            yield note


def _may_rest_on(entry: Entry, ended: frozenset[str]) -> bool:
    """Whether an event names one of these turns, by its head alone."""
    if entry.kind != Event.kind or entry.status != Status.ACTIVE:
        return False
    return any(quote.partition(" ")[0] in ended for quote in entry.quotes)


def _ended_step(event: Event, by: Card) -> Step:
    over = replace(event, status=Status.SUPERSEDED, updated=max(event.updated, by.updated))
    return Step(Op.REFINE, over, f"what it tells was replaced by {by.id}")


def _turns_of(note: Card | Event) -> frozenset[str]:
    return frozenset(f"{quote.session}#{quote.n}" for quote in note.quotes)


def with_expiry(steps: Iterable[Step], shelf: Shelf, table: TtlTable) -> list[Step]:
    """Return steps whose cards say until when they are kept."""
    kept = table.spans
    cards = any(kept[name] for name in ("knowledge", "preference", "relationship", "todos"))
    return [_with_expiry(step, shelf, kept) if cards else step for step in steps]


def kind_of(card: Card) -> str:
    """Return the setting that says how long a card is kept."""
    if card.type is CardType.TASK_STATE:
        return "todos"
    if card.type is CardType.PREFERENCE:
        return "preference"
    linked = card.type is CardType.ENTITY and card.links
    return "relationship" if linked else "knowledge"


def _with_expiry(step: Step, shelf: Shelf, kept: Mapping[str, timedelta | None]) -> Step:
    card = step.note
    if not isinstance(card, Card) or card.status not in LIVE:
        return step
    span = kept[kind_of(card)]
    if step.op is Op.ADD and card.expires is None:
        until = _seen(card) + span if span else None
    elif span is not None and (old := _find_card(card.id, shelf)) is not None:
        # What the setting made of the card as it was; anything else is a person's word.
        ours = card.expires == old.expires == _seen(old) + span
        until = _seen(card) + span if ours else card.expires
    else:
        return step
    return replace(step, note=replace(card, expires=until)) if until != card.expires else step


def _seen(card: Card) -> datetime:
    return card.verified or card.created


def _find_card(id: str, shelf: Shelf) -> Card | None:
    entry = shelf.entries().get(id)
    if entry is None:
        return None
    try:
        note = shelf.file(entry.path).note
    except (NotFoundError, FormatError):  # What becomes of it is for others to say.
        return None
    return note if isinstance(note, Card) else None
