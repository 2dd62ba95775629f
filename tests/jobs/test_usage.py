"""Usage: receipts are counted once and folded by day."""

from __future__ import annotations

from datetime import date

from kimi_memory import Memory
from kimi_memory.formats.checksum import seal, unseal
from kimi_memory.jobs.usage import RECALLS, USAGE, Usage, Use


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


def scored(memory: Memory, at: str, **scores: float) -> None:
    record = {"at": at, "query": "q", "hits": list(scores), "scores": list(scores.values())}
    memory.store.append(RECALLS, [seal(record)], memory.actor)


def test_uses_are_counted_over_receipts_and_folded_days(memory: Memory) -> None:
    scored(memory, "2026-02-25T10:00:00+00:00", a=0.8, b=0.2)
    scored(memory, "2026-02-25T11:00:00+00:00", a=0.4)
    usage = Usage(memory.store)
    before = usage.all()
    memory.store.apply(usage.fold(date(2026, 2, 25)), memory.actor)
    [line] = memory.store.read(USAGE).splitlines()
    assert unseal(line)["scores"] == {"a": 0.6, "b": 0.2}
    assert usage.all() == before
    receipt(memory, "2026-02-27T08:00:00+00:00", "b")
    assert usage.all() == {
        "a": Use(2, date(2026, 2, 25), 0.6),
        "b": Use(2, date(2026, 2, 27), 0.2),
    }


def test_relevance_is_that_of_the_last_recalls(memory: Memory) -> None:
    for _ in range(8):
        scored(memory, "2026-02-20T10:00:00+00:00", a=0.1)
    for _ in range(10):
        scored(memory, "2026-02-25T10:00:00+00:00", a=0.9)
    assert Usage(memory.store).all()["a"] == Use(18, date(2026, 2, 25), 0.9)


def test_what_was_shown_without_a_score_counts_as_relevant(memory: Memory) -> None:
    receipt(memory, "2026-02-26T10:00:00+00:00", "a")
    assert Usage(memory.store).all() == {"a": Use(1, date(2026, 2, 26), 1.0)}


def test_recall_leaves_scores_and_broken_lines_count_for_nothing(memory: Memory) -> None:
    memory.remember("The ferry leaves at nine.", key="ferry.time")
    memory.recall("ferry")
    use = Usage(memory.store).all()
    assert use and all(0 < one.relevance <= 1 for one in use.values())
    (memory.root / USAGE).write_bytes(
        b'{"day":"never"}\nno json\n' + seal({"day": "2026-02-01", "shown": 3, "scores": []})
    )
    assert Usage(memory.store).all() == use


def test_a_person_who_looks_around_uses_nothing(memory: Memory) -> None:
    memory.remember("The ferry leaves from the old pier.")
    memory.recall("ferry", looking=True)
    [receipt] = memory.store.read(RECALLS).splitlines()
    assert unseal(receipt)["looking"] is True
    usage, day = Usage(memory.store), memory.clock().date()
    assert usage.of(day) == usage.all() == {}
    memory.store.apply(usage.fold(day), memory.actor)
    [line] = memory.store.read(USAGE).splitlines()
    assert unseal(line) == {"day": day.isoformat(), "shown": {}, "looked": 1}
    assert usage.all() == {}
    memory.recall("ferry")
    assert usage.of(day)
