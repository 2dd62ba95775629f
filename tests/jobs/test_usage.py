"""Usage: receipts are counted once and folded by day."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest

from kimi_memory import Memory
from kimi_memory.config import TemperatureTable
from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.jobs.usage import (
    KEPT_DAYS,
    RECALLS,
    USAGE,
    Band,
    Usage,
    Use,
    band_of,
    counted,
    heats,
    histogram,
    temperature,
)
from kimi_memory.store.copy import copy_id
from tests.jobs.notes import NOW, card

TABLE = TemperatureTable()


def receipt(memory: Memory, at: str, *ids: str) -> None:
    memory.store.append(RECALLS, [seal({"at": at, "query": "q", "hits": list(ids)})], memory.actor)


def test_a_days_receipts_fold_into_one_line(memory: Memory) -> None:
    receipt(memory, "2026-02-26T10:00:00+00:00", "a", "b")
    receipt(memory, "2026-02-26T11:00:00+00:00", "a")
    receipt(memory, "2026-02-27T08:00:00+00:00", "c")
    usage = Usage(memory.store)
    assert usage.count_shown(date(2026, 2, 26)) == {"a": 2, "b": 1}
    memory.store.apply(usage.fold(date(2026, 2, 26)), memory.actor)
    [line] = memory.store.read(USAGE).splitlines()
    copy = copy_id(memory.store)
    assert unseal(line) == {"day": "2026-02-26", "by": copy, "shown": {"a": 2, "b": 1}}
    assert usage.fold(date(2026, 2, 26)) == []
    assert usage.count_shown(date(2026, 2, 27)) == {"c": 1}


def test_receipts_go_a_while_after_they_were_counted(memory: Memory) -> None:
    usage, day = Usage(memory.store), date(2026, 2, 26)
    receipt(memory, "2026-02-25T10:00:00+00:00", "b")
    receipt(memory, "2026-02-26T10:00:00+00:00", "a")
    late = day + timedelta(days=KEPT_DAYS + 1)
    assert usage.prune(late) == []
    memory.store.apply(usage.fold(day), memory.actor)
    counts = usage.all()
    assert usage.prune(day) == []
    memory.store.apply(usage.prune(late), memory.actor)
    assert usage.all() == counts
    assert usage.count_shown(day) == {} and usage.count_shown(date(2026, 2, 25)) == {"b": 1}
    memory.store.apply(usage.fold(date(2026, 2, 25)), memory.actor)
    memory.store.apply(usage.prune(late), memory.actor)
    assert not memory.store.exists(RECALLS)
    assert usage.all() == counts


def test_a_line_knows_more_than_receipts_that_got_lost(memory: Memory) -> None:
    usage, day = Usage(memory.store), date(2026, 2, 26)
    for _ in range(3):
        receipt(memory, "2026-02-26T10:00:00+00:00", "a")
    memory.store.apply(usage.fold(day), memory.actor)
    (memory.root / RECALLS).unlink()
    receipt(memory, "2026-02-26T11:00:00+00:00", "a")
    assert usage.fold(day) == []
    assert usage.all()["a"].count == 3


def test_broken_receipts_are_passed_over(memory: Memory) -> None:
    (memory.root / RECALLS).write_text('{"at": "never"}\nnot json\n[]\n', encoding="utf-8")
    receipt(memory, "2026-02-26T10:00:00+00:00", "a")
    assert Usage(memory.store).count_shown(date(2026, 2, 26)) == {"a": 1}
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
    assert usage.count_shown(day) == usage.all() == {}
    memory.store.apply(usage.fold(day), memory.actor)
    [line] = memory.store.read(USAGE).splitlines()
    copy = copy_id(memory.store)
    assert unseal(line) == {"day": day.isoformat(), "by": copy, "shown": {}, "looked": 1}
    assert usage.all() == {}
    memory.recall("ferry")
    assert usage.count_shown(day)


def test_late_receipts_of_a_day_are_added_to_its_line(memory: Memory) -> None:
    usage, day = Usage(memory.store), date(2026, 2, 25)
    counts = []
    for scores in ({"a": 0.8, "b": 0.2}, {"a": 0.4}):
        scored(memory, "2026-02-25T10:00:00+00:00", **scores)
        receipt(memory, "2026-02-25T11:00:00+00:00", "c")
        memory.recall("nothing", looking=True)
        memory.store.apply(usage.fold(day), memory.actor)
        counts.append(usage.all())
    [line] = memory.store.read(USAGE).splitlines()
    assert unseal(line)["shown"] == {"a": 2, "b": 1, "c": 2}
    assert unseal(line)["scores"] == {"a": 0.6, "b": 0.2}
    assert counts[-1]["a"] == Use(2, day, 0.6)


def test_a_line_and_what_it_was_before_count_once(memory: Memory) -> None:
    day = {"day": "2026-02-25", "by": "k7d2m9qp"}
    lines = [
        seal({**day, "shown": {"a": 1}}),
        seal({**day, "shown": {"a": 3}}),
        seal({**day, "by": "aaaaaaaa", "shown": {"a": 2}}),
        seal({"day": "2026-02-25", "shown": {"a": 4}}),
        seal({"day": "2026-02-25", "shown": {"a": 4}}),
        seal({"day": "2026-02-25", "by": ["no id"], "shown": {}}),
    ]
    (memory.root / USAGE).write_bytes(b"".join(lines))
    assert Usage(memory.store).all()["a"].count == 3 + 2 + 4 + 4


def used(count: int, days: int = 0, relevance: float = 1.0) -> Use:
    return Use(count, NOW.date() - timedelta(days=days), relevance)


@pytest.mark.parametrize(
    ("age", "use", "value"),
    [
        (0, used(20), 1.0),
        (0, used(40), 1.0),
        (0, used(10), 0.5),
        (0, used(20, relevance=0.4), 0.4),
        (30, used(20), math.exp(-1)),
        (60, used(5, relevance=0.5), math.exp(-2) * 0.25 * 0.5),
        (10, Use(), 0.0),
    ],
)
def test_temperature_is_recency_times_frequency_times_relevance(
    age: float, use: Use, value: float
) -> None:
    assert temperature(card("a", "x", age=age), use, NOW, TABLE) == pytest.approx(value)


def test_the_constants_are_settings() -> None:
    table = TemperatureTable(recency_days=60.0, frequency_cap=5)
    found = temperature(card("a", "x", age=60), used(5), NOW, table)
    assert found == pytest.approx(math.exp(-1))


@pytest.mark.parametrize(
    ("age", "use", "band"),
    [
        (1, Use(), Band.HOT),
        (100, used(3, days=2), Band.HOT),
        (100, used(11, days=60), Band.HOT),
        (8, used(20, days=8), Band.HOT),
        (20, Use(), Band.WARM),
        (100, used(3, days=20), Band.WARM),
        (31, Use(), Band.COLD),
        (100, used(9, days=40), Band.COLD),
    ],
)
def test_bands_follow_temperature_age_and_use(age: float, use: Use, band: Band) -> None:
    found = heats([card("a", "x", age=age)], {"card-a": use}, NOW, TABLE)["card-a"]
    assert found.band is band


def test_a_full_band_passes_its_coolest_down() -> None:
    cards = [card(str(n), "x", age=1) for n in range(4)]
    uses = {f"card-{n}": used(n) for n in range(4)}
    found = heats(cards, uses, NOW, TemperatureTable(hot_limit=2, warm_limit=1))
    assert {id: str(heat.band) for id, heat in found.items()} == {
        "card-3": "hot",
        "card-2": "hot",
        "card-1": "warm",
        "card-0": "cold",
    }


def test_what_a_file_holds_says_the_band_it_is_in() -> None:
    cards = [card("hot", "x", age=1), card("warm", "x", age=20), card("cold", "x", age=99)]
    uses = {"card-cold": used(9, days=50), "card-warm": used(9, days=10)}
    for id, heat in heats(cards, uses, NOW, TABLE).items():
        kept = heat.kept(TABLE.hot)
        assert str(band_of(kept, TABLE.hot)) == id[5:]
        assert str(heat.band) == id[5:]


def test_the_histogram_counts_every_card_once() -> None:
    cards = [card(str(n), "x", age=0) for n in range(6)]
    uses = {f"card-{n}": used(n * 4) for n in range(6)}
    found = heats(cards, uses, NOW, TABLE).values()
    assert histogram(heat.value for heat in found) == {
        "0.9-1.0": 1,
        "0.7-0.9": 1,
        "0.5-0.7": 1,
        "0.3-0.5": 1,
        "0.0-0.3": 2,
    }
    assert counted(found) == {"hot": 6, "warm": 0, "cold": 0}


def test_a_use_of_today_counts_as_now() -> None:
    use = Use(1, date(2026, 2, 27))
    [heat] = heats([card("a", "x", age=50)], {"card-a": use}, NOW, TABLE).values()
    assert heat.idle_days == 0
