"""Temperature: the formula, the bands, their limits."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest

from kimi_memory.config import TemperatureTable
from kimi_memory.jobs.temperature import Band, band_of, counted, heats, histogram, temperature
from kimi_memory.jobs.usage import Use
from tests.jobs.notes import NOW, card

TABLE = TemperatureTable()


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
        assert str(band_of(card("a", "x", temperature=kept), TABLE.hot)) == id[5:]
        assert str(heat.band) == id[5:]


def test_the_histogram_counts_every_card_once() -> None:
    cards = [card(str(n), "x", age=0) for n in range(6)]
    uses = {f"card-{n}": used(n * 4) for n in range(6)}
    found = heats(cards, uses, NOW, TABLE).values()
    assert histogram(found) == {
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
