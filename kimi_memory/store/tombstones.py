"""Tombstones as they stand in the folder: what must not come back."""

from __future__ import annotations

from kimi_memory.errors import FormatError
from kimi_memory.model.record import unseal
from kimi_memory.model.records import tombstone_of
from kimi_memory.model.tombstone import Tombstone
from kimi_memory.store.paths import TOMBSTONES
from kimi_memory.store.store import Store


def read_tombstones(store: Store) -> list[Tombstone]:
    """Return all tombstones, in the order they were set.

    Raises:
        FormatError: a line is none; nothing is written while one cannot be read,
            because it might bar what is about to be written.
    """
    if not store.exists(TOMBSTONES):
        return []
    found = []
    for number, line in enumerate(store.read(TOMBSTONES).splitlines(), 1):
        try:
            found.append(tombstone_of(unseal(line)))
        except ValueError as error:
            raise FormatError(
                TOMBSTONES, number, f"not a tombstone: {error}", "Restore the line from git"
            ) from error
    return found
