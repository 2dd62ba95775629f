"""Lenient moments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.dates.timestamps import EPOCH, find_moment, moment


def at(year: int, month: int, day: int, *clock: int) -> datetime:
    hour, minute, second, micro = (*clock, 0, 0, 0, 0)[:4]
    return datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01T10:00:05Z", at(2026, 3, 1, 10, 0, 5)),
        ("2026-03-01T10:00:05.123456789Z", at(2026, 3, 1, 10, 0, 5, 123456)),
        ("2026-03-01T18:00:05+08:00", at(2026, 3, 1, 10, 0, 5)),
        ("2026-03-01 10:00:05Z", at(2026, 3, 1, 10, 0, 5)),
        ("2026-03-01 10:00", at(2026, 3, 1, 10)),
        ("2026/3/1 9:05:01", at(2026, 3, 1, 9, 5, 1)),
        ("2026-03-01", at(2026, 3, 1)),
        ("2026年3月1日 10:00", at(2026, 3, 1, 10)),
        ("2026年3月1日 下午3:05", at(2026, 3, 1, 15, 5)),
        ("2026年3月1日星期日 上午12:05", at(2026, 3, 1, 0, 5)),
        ("2026-03-01 3:05 PM", at(2026, 3, 1, 15, 5)),
        ("20260301T100005Z", at(2026, 3, 1, 10, 0, 5)),
        (1743403740, at(2025, 3, 31, 6, 49)),
        (1743403740000, at(2025, 3, 31, 6, 49)),
        ("1743403740000", at(2025, 3, 31, 6, 49)),
        (1743403740.5, at(2025, 3, 31, 6, 49, 0, 500000)),
        (1743403740 * 10**9, at(2025, 3, 31, 6, 49)),
    ],
)
def test_moments_are_read_in_every_common_form(value: object, expected: datetime) -> None:
    found = moment(value)
    assert found == expected
    assert found is not None and found.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [None, True, "", "soon", "2026-13-45T10:00Z", float("nan"), float("inf"), -5, 10**40, [], "12"],
)
def test_what_is_no_moment_is_none(value: object) -> None:
    assert moment(value) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-01-28_13-10-29Z-take-a-look.md", at(2026, 1, 28, 13, 10, 29)),
        ("rollout-2026-01-18T02-01-28-019bce9f-0a40.jsonl", at(2026, 1, 18, 2, 1, 28)),
        ("session-20260331-062900.json", at(2026, 3, 31, 6, 29)),
        ("与小王的聊天 2026年3月1日.txt", at(2026, 3, 1)),
        ("notes.md", None),
        ("13800138000-20261399.md", None),
    ],
)
def test_a_moment_is_found_in_a_name(name: str, expected: datetime | None) -> None:
    assert find_moment(name) == expected


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2199, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
)
def test_isoformat_is_read_back(local: datetime, minutes: int) -> None:
    written = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert moment(written.isoformat()) == written


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    for found in (moment(text), find_moment(text)):
        assert found is None or found >= EPOCH - timedelta(days=40000)
