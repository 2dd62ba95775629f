"""Turns that were forgotten: those of barred sessions, and those that barred notes rest on.

A tombstone keeps a forgotten value from being distilled again; the words themselves stay
in their session, as files and history are never cut but by a purge. Recall must not
bring up in another form what somebody asked to forget.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.files import state_of
from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.model import form
from kimi_memory.model.card import Card
from kimi_memory.model.event import Event
from kimi_memory.model.frontmatter import decode
from kimi_memory.model.note import Status
from kimi_memory.model.record import unseal
from kimi_memory.model.records import tombstone_of
from kimi_memory.model.tombstone import Tombstone, forms
from kimi_memory.store.tombstones import TOMBSTONES


def forgotten(searcher: Searcher) -> Bools:
    """Return the rows of turns that were forgotten."""
    state = state_of(searcher.files.root, TOMBSTONES)
    # They are only ever added to, or written anew as another file, so their state tells them.
    return searcher.once(f"forgotten {state}", lambda: _rows(searcher))


def _rows(searcher: Searcher) -> Bools:
    try:
        content = searcher.files.read(TOMBSTONES)
    except (OSError, KimiMemoryError):
        return np.zeros(len(searcher), dtype=bool)
    stones = list(_stones(content))
    sessions = {stone.scope for stone in stones if not stone.value}
    turns = set(_turns(searcher, {stone.value for stone in stones if stone.value}))
    ids, kinds = searcher.column("id"), searcher.column("kind")
    barred = [
        kind == "turn" and (id in turns or id.rpartition("#")[0] in sessions)
        for id, kind in zip(ids, kinds, strict=True)
    ]
    return np.asarray(barred, dtype=bool)


def _stones(content: bytes) -> Iterator[Tombstone]:
    """Yield the tombstones that can be read; the gate of writing refuses the others."""
    for line in content.splitlines():
        with suppress(ValueError):
            yield tombstone_of(unseal(line))


def _turns(searcher: Searcher, values: set[str]) -> Iterator[str]:
    """Yield the turns quoted by archived notes of which a tombstone bars the words."""
    for note in _archived(searcher):
        for quote in note.quotes:
            if not values.isdisjoint(forms(quote.text)):
                yield f"session:{quote.session}#{quote.n}"


def _archived(searcher: Searcher) -> Iterator[Card | Event]:
    statuses, kinds = searcher.column("status"), searcher.column("kind")
    for row in searcher.living():
        if statuses[row] == Status.ARCHIVED and kinds[row] in (Card.kind, Event.kind):
            path = searcher.path(row)
            with suppress(OSError, KimiMemoryError):
                note = form.parse(decode(searcher.files.read(path), path), path)
                if isinstance(note, Card | Event):
                    yield note
