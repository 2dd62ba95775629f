"""Blocks of memory that were made for prompts, kept on this machine for some days as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.store.files.paths import PRIVATE

if TYPE_CHECKING:
    from kimi_memory.domain.session import Json
    from kimi_memory.store.store import Store

FOLDER = f"{PRIVATE}/prompts"
"""One file a day. Of this machine alone: git never sees it, and a purge removes what it hits."""


class PromptBlock(NamedTuple):
    """A block, and who got it for what."""

    id: str
    """Of its receipt."""
    at: datetime
    to: str
    """Who asked, such as ``hook:claude``."""
    purpose: str
    session: str
    lines: tuple[str, ...]
    """Ids of what it shows, in order."""
    text: str
    verified: bool = True
    """Whether it is byte for byte what this machine wrote down."""


def keep_block(store: Store, block: PromptBlock, days: int) -> None:
    """Write down a block; one that cannot be written is left out, as nobody waits for it.

    Args:
        store: of the memory.
        block: what was given.
        days: so long blocks stay.
    """
    record: dict[str, Json] = {
        "id": block.id, "at": block.at.astimezone(UTC).isoformat(), "to": block.to,
        "for": block.purpose, "session": block.session, "lines": list(block.lines),
        "text": block.text, "mac": store.journal.keyed(_signed(block)),
    }  # fmt: skip
    folder, today = store.root / FOLDER, block.at.astimezone(UTC).date()
    path = folder / f"{today}.jsonl"
    # They only serve to look back: an answer must not fail for them.
    with suppress(OSError):
        if not path.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _drop_old(store, today - timedelta(days=days))
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        # One write, so that blocks of two processes do not mix.
        file = os.open(path, how, 0o600)
        try:
            os.write(file, seal(record))
        finally:
            os.close(file)


def read_blocks(store: Store) -> Iterator[PromptBlock]:
    """Yield the blocks that are kept, the latest first; torn lines are left out."""
    for name in reversed(_list_days(store)):
        # Another process dropped it as too old.
        with suppress(OSError):
            for line in reversed((store.root / FOLDER / name).read_bytes().splitlines(True)):
                with suppress(ValueError, KeyError, TypeError):
                    yield _decode_block(store, line)


def _decode_block(store: Store, line: bytes) -> PromptBlock:
    record = unseal(line)
    lines = record["lines"]
    block = PromptBlock(
        str(record["id"]), datetime.fromisoformat(str(record["at"])), str(record["to"]),
        str(record["for"]), str(record["session"]),
        tuple(map(str, lines)) if isinstance(lines, list) else (), str(record["text"]),
    )  # fmt: skip
    return block._replace(verified=store.journal.keyed(_signed(block)) == record["mac"])


def _signed(block: PromptBlock) -> str:
    said = (block.id, block.at.astimezone(UTC).isoformat(), block.to, block.purpose, block.session)
    return "\0".join((*said, *block.lines, block.text))


def _list_days(store: Store) -> list[str]:
    """Return the names of the files, the oldest first."""
    # None was kept yet.
    with suppress(OSError):
        return sorted(one.name for one in (store.root / FOLDER).iterdir() if _day_of(one.name))
    return []


def _drop_old(store: Store, last: date) -> None:
    for name in _list_days(store):
        day = _day_of(name)
        if day and day < last:
            (store.root / FOLDER / name).unlink(missing_ok=True)


def _day_of(name: str) -> date | None:
    """Return the day of a file; None for a file that we did not write."""
    # Such a file is neither read nor dropped.
    with suppress(ValueError):
        return date.fromisoformat(name.removesuffix(".jsonl"))
    return None
