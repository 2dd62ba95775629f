"""Tombstones as recall reads them, and the turns that barred notes rest on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from kimi_memory.domain.card import Card
from kimi_memory.domain.event import Event
from kimi_memory.domain.scope import is_private
from kimi_memory.domain.status import Status
from kimi_memory.domain.tombstone import Stones, Tombstone
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats import codec
from kimi_memory.formats.checksum import unseal
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import tombstone_of
from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.keyed_hashes import keyed_by


def stones_in(content: bytes, journal: Journal) -> Stones:
    """Return the tombstones that can be read; the gate of writing refuses the others."""
    return Stones(_read(content), keyed_by(journal))


def _read(content: bytes) -> Iterator[Tombstone]:
    for line in content.splitlines():
        with suppress(ValueError):
            yield tombstone_of(unseal(line))


def barred(searcher: Searcher, content: bytes) -> Bools:
    """Return the rows of turns that the tombstones of a file bar."""
    stones = stones_in(content, searcher.files.journal)
    sessions = {stone.scope for stone in stones if not stone.value}
    turns = set(_turns(searcher, stones))
    ids, kinds = searcher.column("id"), searcher.column("kind")
    found = [
        id in turns or id.rpartition("#")[0] in sessions if kind == "turn" else stones.name(id)
        for id, kind in zip(ids, kinds, strict=True)
    ]
    return np.asarray(found, dtype=bool)


def _turns(searcher: Searcher, stones: Stones) -> Iterator[str]:
    """Yield the turns quoted by archived notes of which a tombstone bars the words."""
    private, values = defaultdict[str, set[str]](set), set[str]()
    for stone in stones:
        if stone.value:
            (private[stone.scope] if is_private(stone.scope) else values).add(stone.value)
    for note in _archived(searcher):
        barred = values | private.get(note.scope, set())
        for quote in note.quotes:
            if not barred.isdisjoint(stones.forms(quote.text)):
                yield f"session:{quote.session}#{quote.n}"


def _archived(searcher: Searcher) -> Iterator[Card | Event]:
    statuses, kinds = searcher.column("status"), searcher.column("kind")
    for row in searcher.living():
        if statuses[row] == Status.ARCHIVED and kinds[row] in (Card.kind, Event.kind):
            path = searcher.path(row)
            with suppress(OSError, KimiMemoryError):
                note = codec.parse(decode(searcher.files.served(path).content, path), path)
                if isinstance(note, Card | Event):
                    yield note
