"""What recall keeps to itself: words that were forgotten, cards that have expired."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from kimi_memory.domain.card import Card
from kimi_memory.domain.search_types import Hit, Query, Unit
from kimi_memory.domain.status import Status
from kimi_memory.domain.tombstone import PURGED
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.index.files import Files
from kimi_memory.recall.forgotten_turns import tombstones
from kimi_memory.recall.tombstones import stones_in

if TYPE_CHECKING:
    from kimi_memory.domain.tombstone import Stones
    from kimi_memory.store.wal.journal import Journal

_NOTES = frozenset({"card", "event"})
"""They have a status of their own, and forgetting sets it."""


def audible(files: Files, hits: Iterable[Hit], query: Query, now: datetime) -> list[Hit]:
    """Return the hits that may be shown, without the sentences that were forgotten.

    A transcript that was taken in again, or a page of one's own, may repeat what somebody
    asked to forget. Who asks for archived notes sees everything.
    """
    if Status.ARCHIVED in query.status:
        return list(hits)
    stones = stones_of(files)
    kept = (hit for hit in hits if not _has_expired(files, hit.unit, now))
    return [heard for hit in kept if (heard := _heard(hit, stones)) is not None]


def stones_of(files: Files) -> Stones | None:
    """Return the tombstones of a memory, None when it has forgotten nothing."""
    content = tombstones(files)
    return _stones(content, files.journal) if content else None


@lru_cache(maxsize=4)
def _stones(content: bytes, journal: Journal) -> Stones:
    return stones_in(content, journal)


def _heard(hit: Hit, stones: Stones | None) -> Hit | None:
    unit = hit.unit
    if not stones or unit.kind in _NOTES:
        return hit
    session = unit.id.partition("#")[0] if unit.kind == "turn" else ""
    if stones.name(unit.id) and not _is_washed(unit.text):
        return None  # Purged in another copy, and here not yet.
    text = stones.silence(unit.text, {"memory", f"project:{unit.project}", session, unit.scope})
    if text == unit.text:
        return hit
    return replace(hit, unit=replace(unit, text=text)) if text else None


def _is_washed(text: str) -> bool:
    return PURGED in text


def _has_expired(files: Files, unit: Unit, now: datetime) -> bool:
    """Whether a card is past the moment from which nobody wants to see it."""
    if unit.kind != "card" or unit.valid_to is None or unit.valid_to >= now:
        return False

    with suppress(OSError, KimiMemoryError):
        card = codec.parse(decode(files.served(unit.path).content, unit.path), unit.path)
        return isinstance(card, Card) and card.expires is not None and card.expires < now
    return False
