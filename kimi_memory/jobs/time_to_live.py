"""Cards that are kept for some time: ``[ttl]`` says how long, `expires` of a card until when.

The moment is set when a card is written, counted from when it was last said. Said again, it moves;
one that a person wrote into the card stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.memory_tables import TtlTable
from kimi_memory.domain.note import LIVE, Card, CardType
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.store.notes.notes import Shelf


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
