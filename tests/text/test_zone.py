"""Time zones: the day of a moment is that of the person."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from kimi_memory.text.zone import day_in, start_of, zone_of

NIGHT = datetime(2026, 11, 22, 18, 36, tzinfo=UTC)


def test_a_night_in_shanghai_is_of_the_next_day() -> None:
    assert day_in(NIGHT, zone_of("Asia/Shanghai")) == date(2026, 11, 23)
    assert day_in(NIGHT, UTC) == date(2026, 11, 22)


def test_a_day_begins_at_its_own_midnight() -> None:
    assert start_of(date(2026, 11, 23), zone_of("Asia/Shanghai")) == datetime(
        2026, 11, 22, 16, tzinfo=UTC
    )
    assert start_of(date(2026, 7, 1), zone_of("Europe/Berlin")).astimezone(UTC).hour == 22


def test_no_name_is_the_zone_of_the_machine() -> None:
    assert zone_of("") is None
    start = start_of(date(2026, 7, 1), None)
    assert day_in(start, None) == date(2026, 7, 1)


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "\0", "Asia"])
def test_a_zone_that_is_none_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        zone_of(name)
