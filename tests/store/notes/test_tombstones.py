"""Tombstones in the folder."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.errors import FormatError
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.tombstones import read_tombstones


def test_tombstones_come_back_in_order(memory: Memory, clock) -> None:
    assert not read_tombstones(memory.store)
    stones = [Tombstone("memory", key, "值", clock(), "me") for key in ("a", "b")]
    memory.store.append(TOMBSTONES, [tombstone_line(stone) for stone in stones], memory.actor)
    assert list(read_tombstones(memory.store)) == stones


@pytest.mark.parametrize("line", ["not json", "{}", '{"kind":"tombstone","scope":1}', "[1]"])
def test_a_broken_line_is_named_and_stops_every_writer(memory: Memory, line: str) -> None:
    path = memory.root / TOMBSTONES
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"mid-term/tombstones\.jsonl:1: not a tombstone"):
        read_tombstones(memory.store)
    with pytest.raises(FormatError):
        memory.remember("我住在成都", key="me.city")
