"""Time zones: the day of a moment is that of the person."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kimi_memory.nlp.dates.vocabulary import MACHINE, day_in, in_zone, mark_of, pinned, start_of

NIGHT = datetime(2026, 11, 22, 18, 36, tzinfo=UTC)


def test_a_night_in_shanghai_is_of_the_next_day() -> None:
    assert day_in(NIGHT, ZoneInfo("Asia/Shanghai")) == date(2026, 11, 23)
    assert day_in(NIGHT, UTC) == date(2026, 11, 22)


def test_a_day_begins_at_its_own_midnight() -> None:
    assert start_of(date(2026, 11, 23), ZoneInfo("Asia/Shanghai")) == datetime(
        2026, 11, 22, 16, tzinfo=UTC
    )
    assert start_of(date(2026, 7, 1), ZoneInfo("Europe/Berlin")).astimezone(UTC).hour == 22


def test_days_of_the_machine_begin_at_its_midnight() -> None:
    start = start_of(date(2026, 7, 1), MACHINE)
    assert day_in(start, MACHINE) == date(2026, 7, 1)


def test_half_hours_and_changes_of_the_clock() -> None:
    assert in_zone(NIGHT, ZoneInfo("Asia/Kolkata")).isoformat() == "2026-11-23T00:06:00+05:30"
    berlin = ZoneInfo("Europe/Berlin")
    long_day = start_of(date(2026, 10, 26), berlin) - start_of(date(2026, 10, 25), berlin)
    short_day = start_of(date(2026, 3, 30), berlin) - start_of(date(2026, 3, 29), berlin)
    assert (long_day, short_day) == (timedelta(hours=25), timedelta(hours=23))


def test_an_hour_that_comes_twice_keeps_its_order() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 10, 25, 0, 50, tzinfo=UTC)
    second = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    assert in_zone(first, berlin) > in_zone(second, berlin)  # by their clocks, 02:50 and 02:10
    assert pinned(first, berlin) < pinned(second, berlin)
    assert pinned(first, berlin) == first


@pytest.mark.parametrize("at", [datetime.min, datetime.max])
def test_the_ends_of_the_calendar_are_in_every_zone(at: datetime) -> None:
    for name in ("America/New_York", "Asia/Shanghai"):
        zone = ZoneInfo(name)
        assert day_in(at.replace(tzinfo=UTC), zone).year == at.year
        assert start_of(at.date(), zone).year in (at.year, at.year - 1)
        assert pinned(at.replace(tzinfo=UTC), zone).year == at.year


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be set here")
@pytest.mark.parametrize("name", ["Europe/Berlin", "Asia/Kolkata", "America/New_York", "UTC"])
def test_the_zone_of_the_machine_is_that_of_its_clock(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", name)
    time.tzset()
    try:
        zone = ZoneInfo(name)
        hours = (datetime(2026, 10, 24, 12, tzinfo=UTC) + timedelta(hours=n) for n in range(36))
        for at in (*hours, datetime(2026, 7, 1, tzinfo=UTC), NIGHT):
            here = in_zone(at, MACHINE)
            assert here.astimezone(UTC) == at
            assert here.replace(tzinfo=None) == in_zone(at, zone).replace(tzinfo=None)
        assert start_of(date(2026, 7, 1), MACHINE) == start_of(date(2026, 7, 1), zone)
        assert (mark_of(MACHINE) == "") is (name == "UTC")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_only_zones_of_other_days_have_another_mark() -> None:
    assert mark_of(UTC) == mark_of(ZoneInfo("Africa/Abidjan")) == ""
    assert len({mark_of(ZoneInfo(name)) for name in ("Asia/Shanghai", "Asia/Kolkata", "UTC")}) == 3
