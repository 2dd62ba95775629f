"""Tombstones as they stand in the folder: what must not come back."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.tombstone import KEYED, Keyed, Stones, Tombstone, keyed_hash
from kimi_memory.errors import FormatError
from kimi_memory.formats.checksum import unseal
from kimi_memory.formats.jsonl import tombstone_line, tombstone_of
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.store import Store
from kimi_memory.store.wal.keyed_hashes import keyed_by


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


def keyed_line(line: bytes, keyed: Keyed) -> bytes:
    """Return a tombstone's line with the keyed hash in place of a plain one."""
    stone = tombstone_of(unseal(line))
    if not stone.hashed or not stone.value or stone.value.startswith(KEYED):
        return line
    return tombstone_line(replace(stone, value=keyed_hash(stone.value, keyed)))


def read_stones(store: Store) -> Stones:
    """Return all tombstones, ready to be asked.

    Raises:
        FormatError: see `read_tombstones`.
    """
    return Stones(read_tombstones(store), keyed_by(store.journal))
