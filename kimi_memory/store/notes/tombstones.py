"""Tombstones as they stand in the folder: what must not come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kimi_memory.domain.tombstone import KEYED, Keyed, Tombstone, Tombstones, keyed_hash
from kimi_memory.errors import FormatError
from kimi_memory.formats.checksum import unseal
from kimi_memory.formats.jsonl import tombstone_line, tombstone_of
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.store import Store
from kimi_memory.store.wal.keyed_hashes import keyed_by


def parse_tombstones(content: bytes, *, strict: bool = True) -> Iterator[Tombstone]:
    """Yield the tombstones of a file, in the order they were set.

    Args:
        content: the bytes of the file.
        strict: a line that is none is an error; else it is passed over.

    Raises:
        FormatError: a line is none; nothing is written while one cannot be read,
            because it might bar what is about to be written.
    """
    for number, line in enumerate(content.splitlines(), 1):
        try:
            yield tombstone_of(unseal(line))
        except ValueError as error:
            if strict:
                raise FormatError(
                    TOMBSTONES, number, f"not a tombstone: {error}", "Restore the line from git"
                ) from error


def read_tombstones(store: Store) -> Tombstones:
    """Return all tombstones of a memory.

    Raises:
        FormatError: see `parse_tombstones`.
    """
    content = store.read(TOMBSTONES) if store.exists(TOMBSTONES) else b""
    return Tombstones(parse_tombstones(content), keyed_by(store.journal))


def keyed_line(line: bytes, keyed: Keyed) -> bytes:
    """Return a tombstone's line with the keyed hash in place of a plain one."""
    stone = tombstone_of(unseal(line))
    if not stone.hashed or not stone.value or stone.value.startswith(KEYED):
        return line
    return tombstone_line(replace(stone, value=keyed_hash(stone.value, keyed)))
