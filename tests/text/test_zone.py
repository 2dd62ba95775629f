"""Time zones: the day of a moment is that of the person."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from kimi_memory.text.zone import day_in, start_of

NIGHT = datetime(2026, 11, 22, 18, 36, tzinfo=UTC)


def test_a_night_in_shanghai_is_of_the_next_day() -> None:
    assert day_in(NIGHT, ZoneInfo("Asia/Shanghai")) == date(2026, 11, 23)
    assert day_in(NIGHT, UTC) == date(2026, 11, 22)


def test_a_day_begins_at_its_own_midnight() -> None:
    assert start_of(date(2026, 11, 23), ZoneInfo("Asia/Shanghai")) == datetime(
        2026, 11, 22, 16, tzinfo=UTC
    )
    assert start_of(date(2026, 7, 1), ZoneInfo("Europe/Berlin")).astimezone(UTC).hour == 22


def test_no_name_is_the_zone_of_the_machine() -> None:
    start = start_of(date(2026, 7, 1), None)
    assert day_in(start, None) == date(2026, 7, 1)
