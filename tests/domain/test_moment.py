"""Moments as text: what is written is read back, on any clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.moment import moment, on_clocks, shown, stamp, zulu

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))


def test_front_matter_and_records_are_in_utc() -> None:
    there = AT.astimezone(SHANGHAI)
    assert (stamp(there), zulu(there)) == ("2026-02-27T09:10:00", "2026-02-27T09:10:00Z")


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (SHANGHAI, "2026-02-27 17:10 +08:00"),
        (UTC, "2026-02-27 09:10 UTC"),
        (timezone(timedelta(hours=8, minutes=5, seconds=43)), "2026-02-27 09:10 UTC"),
    ],
    ids=["an offset", "utc", "odd seconds"],
)
def test_pages_name_the_clock(zone: timezone, text: str) -> None:
    assert shown(AT.astimezone(zone)) == text
    assert on_clocks(AT, text).isoformat() in (AT.isoformat(), AT.astimezone(zone).isoformat())


@pytest.mark.parametrize("text", ["", "yesterday", "09:10 +99:99", "+00:00"])
def test_a_page_without_a_clock_leaves_the_moment_as_it_is(text: str) -> None:
    assert on_clocks(AT, text) == AT


@given(st.datetimes(min_value=datetime(1900, 1, 2), max_value=datetime(9000, 1, 1)))
def test_a_moment_is_read_as_it_was_written(naive: datetime) -> None:
    at = naive.replace(tzinfo=UTC)
    assert moment(stamp(at)) == moment(zulu(at)) == at


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "9999-12-31T23:59:59-23:59"])
def test_what_is_no_moment_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a date and time"):
        moment(text)
