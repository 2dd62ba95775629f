"""What recall keeps to itself: words that were forgotten, cards that have expired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.files import Files, state_of
from kimi_memory.model import form
from kimi_memory.model.card import Card
from kimi_memory.model.frontmatter import decode
from kimi_memory.model.note import Status
from kimi_memory.model.record import unseal
from kimi_memory.model.records import tombstone_of
from kimi_memory.model.tombstone import Stones, Tombstone
from kimi_memory.model.unit import Hit, Query, Unit
from kimi_memory.store.tombstones import TOMBSTONES

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


def stones_of(files: Files) -> Stones:
    """Return the tombstones of a memory."""
    return _stones(_content(files))


def _content(files: Files) -> bytes:
    if state_of(files.root, TOMBSTONES) is None:
        return b""  # which is told much sooner than to open what is not there
    try:
        return files.read(TOMBSTONES)
    except (OSError, KimiMemoryError):
        return b""


@lru_cache(maxsize=4)
def _stones(content: bytes) -> Stones:
    return Stones(_read(content))


def _read(content: bytes) -> Iterator[Tombstone]:
    """Yield the tombstones that can be read; the gate of writing refuses the others."""
    for line in content.splitlines():
        with suppress(ValueError):
            yield tombstone_of(unseal(line))


def _heard(hit: Hit, stones: Stones) -> Hit | None:
    unit = hit.unit
    if not stones or unit.kind in _NOTES:
        return hit
    session = unit.id.partition("#")[0] if unit.kind == "turn" else ""
    text = stones.silence(unit.text, {"memory", f"project:{unit.project}", session})
    if text == unit.text:
        return hit
    return replace(hit, unit=replace(unit, text=text)) if text else None


def _has_expired(files: Files, unit: Unit, now: datetime) -> bool:
    """Whether a card is past the moment from which nobody wants to see it."""
    if unit.kind != "card" or unit.valid_to is None or unit.valid_to >= now:
        return False
    with suppress(OSError, KimiMemoryError):
        card = form.parse(decode(files.read(unit.path), unit.path), unit.path)
        return isinstance(card, Card) and card.expires is not None and card.expires < now
    return False
