"""What recall does not show: what was forgotten, wherever it stands, and expired cards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

import numpy as np

from kimi_memory.domain.change import digest
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Hit, Query, Unit
from kimi_memory.domain.session import is_private
from kimi_memory.domain.tombstone import PURGED, Tombstones
from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.files import Files
from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.index.units import served_note
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import parse_tombstones
from kimi_memory.store.wal.journal import Journal

_NOTES = frozenset({Card.kind, Event.kind})
"""They have a status of their own, and forgetting sets it."""
_NOTHING = Tombstones(())


def redact_hits(files: Files, hits: Iterable[Hit], query: Query, now: datetime) -> list[Hit]:
    """Return the hits that may be shown, without the sentences that were forgotten.

    A transcript that was taken in again, or a page of one's own, may repeat what somebody
    asked to forget. Who asks for archived notes sees everything.
    """
    if Status.ARCHIVED in query.status:
        return list(hits)
    stones = tombstones_of(files)
    kept = (hit for hit in hits if not _has_expired(files, hit.unit, now))
    return [shown for hit in kept if (shown := _redact_hit(hit, stones)) is not None]


def forgotten(searcher: Searcher) -> Bools:
    """Return the rows of turns that were forgotten: of barred sessions, or under barred notes.

    A tombstone keeps a forgotten value from being distilled again; the words themselves stay
    in their session, as files and history are never cut but by a purge.
    """
    mark = digest(_read_tombstones(searcher.files))
    return searcher.once(f"forgotten {mark}", lambda: _forgotten_rows(searcher))


def forgotten_ids(searcher: Searcher) -> list[str]:
    """Return the ids of what was forgotten."""
    ids = searcher.column("id")
    return [ids[int(row)] for row in np.flatnonzero(forgotten(searcher))]


def tombstones_of(files: Files) -> Tombstones:
    """Return the tombstones that can be read; the gate of writing refuses the others."""
    # Broken lines bar nothing here, as reading must go on.
    with suppress(KimiMemoryError):
        return _build_tombstones(_read_tombstones(files), files.journal)
    return _NOTHING


def _read_tombstones(files: Files) -> bytes:
    # Nothing was ever forgotten here.
    with suppress(OSError, KimiMemoryError):
        return files.served(TOMBSTONES).content
    return b""


@lru_cache(maxsize=4)
def _build_tombstones(content: bytes, journal: Journal) -> Tombstones:
    # Not strict: one bad line must not bring back all that was forgotten.
    return Tombstones(parse_tombstones(content, strict=False), journal.keyed)


def _redact_hit(hit: Hit, stones: Tombstones) -> Hit | None:
    unit = hit.unit
    # A candidate may say what was forgotten here: another copy brought it, and nobody settled it.
    settled = unit.kind in _NOTES and unit.status != Status.CANDIDATE
    if not stones or settled:
        return hit
    session = unit.id.partition("#")[0] if unit.kind == "turn" else ""
    # The purge came by git from another machine.
    if stones.names(unit.id) and PURGED not in unit.text:
        return None  # Purged in another copy, and here not yet.
    text = stones.redact(unit.text, {"memory", f"project:{unit.project}", session, unit.scope})
    if text == unit.text:
        return hit
    return replace(hit, unit=replace(unit, text=text)) if text else None


def _has_expired(files: Files, unit: Unit, now: datetime) -> bool:
    """Whether the date on which a card expires has passed."""
    if unit.kind != Card.kind or unit.valid_to is None or unit.valid_to >= now:
        return False
    card = served_note(files, unit.path)
    return isinstance(card, Card) and card.expires is not None and card.expires < now


def _forgotten_rows(searcher: Searcher) -> Bools:
    stones = tombstones_of(searcher.files)
    if not stones and not searcher.hidden:
        return np.zeros(len(searcher), dtype=bool)
    sessions = {stone.scope for stone in stones if not stone.value}
    turns = set(_turns_under(searcher, stones)) | searcher.hidden
    ids, kinds = searcher.column("id"), searcher.column("kind")
    found = [
        id in turns or id.rpartition("#")[0] in sessions
        if kind == "turn"
        else stones.names(id) or id in turns
        for id, kind in zip(ids, kinds, strict=True)
    ]
    return np.asarray(found, dtype=bool)


def _turns_under(searcher: Searcher, stones: Tombstones) -> Iterator[str]:
    """Yield the turns quoted by archived notes whose words a tombstone bars."""
    private, values = defaultdict[str, set[str]](set), set[str]()
    for stone in stones:
        if stone.value:
            (private[stone.scope] if is_private(stone.scope) else values).add(stone.value)
    for note in _yield_archived_notes(searcher):
        barred = values | private.get(note.scope, set())
        for quote in note.quotes:
            if not barred.isdisjoint(stones.forms(quote.text)):
                yield f"session:{quote.session}#{quote.n}"


def _yield_archived_notes(searcher: Searcher) -> Iterator[Card | Event]:
    statuses, kinds = searcher.column("status"), searcher.column("kind")
    for row in searcher.living():
        if statuses[row] == Status.ARCHIVED and kinds[row] in _NOTES:
            note = served_note(searcher.files, searcher.path(row))
            if isinstance(note, Card | Event):
                yield note
