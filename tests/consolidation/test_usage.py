"""Usage: receipts are counted once and folded by day."""

from __future__ import annotations

from datetime import date

from kimi_memory import Memory
from kimi_memory.consolidation.usage import RECALLS, USAGE, Usage
from kimi_memory.model.record import seal, unseal


def receipt(memory: Memory, at: str, *ids: str) -> None:
    memory.store.append(RECALLS, [seal({"at": at, "query": "q", "hits": list(ids)})], memory.actor)


def test_a_days_receipts_fold_into_one_line(memory: Memory) -> None:
    receipt(memory, "2026-02-26T10:00:00+00:00", "a", "b")
    receipt(memory, "2026-02-26T11:00:00+00:00", "a")
    receipt(memory, "2026-02-27T08:00:00+00:00", "c")
    usage = Usage(memory.store)
    assert usage.of(date(2026, 2, 26)) == {"a": 2, "b": 1}
    memory.store.apply(usage.fold(date(2026, 2, 26)), memory.actor)
    [line] = memory.store.read(USAGE).splitlines()
    assert unseal(line) == {"day": "2026-02-26", "shown": {"a": 2, "b": 1}}
    assert usage.of(date(2026, 2, 26)) == {}
    assert usage.of(date(2026, 2, 27)) == {"c": 1}


def test_the_last_receipts_take_their_file_along(memory: Memory) -> None:
    receipt(memory, "2026-02-26T10:00:00+00:00", "a")
    memory.store.apply(Usage(memory.store).fold(date(2026, 2, 26)), memory.actor)
    assert not memory.store.exists(RECALLS)


def test_broken_receipts_are_passed_over(memory: Memory) -> None:
    (memory.root / RECALLS).write_text('{"at": "never"}\nnot json\n[]\n', encoding="utf-8")
    receipt(memory, "2026-02-26T10:00:00+00:00", "a")
    assert Usage(memory.store).of(date(2026, 2, 26)) == {"a": 1}
    assert Usage(memory.store).fold(date(2026, 2, 25)) == []
