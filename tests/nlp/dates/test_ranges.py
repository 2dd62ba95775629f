"""Spans of time as people name them: a day, last week, 上个月, 7d, from May to July."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.dates.ranges import Period, period, time_spans

NOW = datetime(2026, 2, 27, 9, 30, tzinfo=UTC)  # a Friday


def days(first: str, last: str) -> Period:
    start, end = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (first, last))
    return Period(start, end)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2026-02-27", "2026-02-27", "2026-02-28"),
        ("2026/2/27", "2026-02-27", "2026-02-28"),
        ("2026年2月27日", "2026-02-27", "2026-02-28"),
        ("March 1, 2025", "2025-03-01", "2025-03-02"),
        ("yesterday", "2026-02-26", "2026-02-27"),
        ("昨天", "2026-02-26", "2026-02-27"),
        ("last Friday", "2026-02-20", "2026-02-21"),
        ("上周五", "2026-02-20", "2026-02-21"),
        ("Friday", "2026-02-27", "2026-02-28"),
        ("周三", "2026-02-25", "2026-02-26"),
        ("last week", "2026-02-16", "2026-02-23"),
        ("上周", "2026-02-16", "2026-02-23"),
        ("last weekend", "2026-02-21", "2026-02-23"),
        ("last month", "2026-01-01", "2026-02-01"),
        ("上个月", "2026-01-01", "2026-02-01"),
        ("3 days ago", "2026-02-24", "2026-02-25"),
        ("三天前", "2026-02-24", "2026-02-25"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        ("2025年12月", "2025-12-01", "2026-01-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("3月5日", "2025-03-05", "2025-03-06"),
        ("2月29日", "2024-02-29", "2024-03-01"),
    ],
)
def test_dates_name_their_whole_span(text: str, first: str, after: str) -> None:
    assert period(text, NOW) == days(first, after)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-02-27T09:30", "2026-02-27T09:30+00:00"),
        ("2026-02-27 09:30:05+08:00", "2026-02-27T01:30:05+00:00"),
        ("2026年2月27日 下午3:05", "2026-02-27T15:05+00:00"),
        ("24h", "2026-02-26T09:30+00:00"),
        ("3 hours ago", "2026-02-27T06:30+00:00"),
        ("3小时前", "2026-02-27T06:30+00:00"),
        ("7d", "2026-02-20T09:30+00:00"),
        ("2w", "2026-02-13T09:30+00:00"),
    ],
)
def test_times_name_a_moment(text: str, at: str) -> None:
    moment = datetime.fromisoformat(at)
    assert period(text, NOW) == Period(moment, moment)


@pytest.mark.parametrize("text", ["", "someday", "改天", "2026-13-45", "tea", "12:99", "99:99 x"])
def test_what_is_no_date_names_nothing(text: str) -> None:
    assert period(text, NOW) is None


def test_days_begin_at_midnight_of_the_clock() -> None:
    from datetime import timezone

    china = timezone(timedelta(hours=8))
    found = period("昨天", NOW.astimezone(china))
    assert found is not None
    assert found.start == datetime(2026, 2, 26, tzinfo=china)


@given(st.text(max_size=40))
def test_no_text_is_too_strange(text: str) -> None:
    found = period(text, NOW)
    assert found is None or found.start <= found.end


NOW_OF_QUERY_RANGES = datetime(2026, 5, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where were we on March 1?", [(2026, 3, 1, 2026, 3, 1)]),
        ("in mid-March, which park", [(2026, 3, 11, 2026, 3, 20)]),
        ("at the end of February", [(2026, 2, 21, 2026, 2, 28)]),
        ("late January 2024", [(2024, 1, 21, 2024, 1, 31)]),
        ("what did we do in June", [(2025, 6, 1, 2025, 6, 30)]),
        ("In May we met", [(2026, 5, 1, 2026, 5, 31)]),
        ("may I march on", []),
        ("the Mayor", []),
        ("in 2023", [(2023, 1, 1, 2023, 12, 31)]),
        ("last week", [(2026, 5, 11, 2026, 5, 17)]),
        ("on May 25", [(2026, 5, 25, 2026, 5, 25)]),
        ("on February 30", []),
        ("from March to May 2025", [(2025, 3, 1, 2025, 5, 31)]),
        ("between August 11 and August 15, 2023", [(2023, 8, 11, 2023, 8, 15)]),
        ("on March 1 and March 3", [(2026, 3, 1, 2026, 3, 1), (2026, 3, 3, 2026, 3, 3)]),
        ("from December to February", [(2025, 12, 1, 2026, 2, 28)]),
        ("3月中旬去了哪", [(2026, 3, 11, 2026, 3, 20)]),
        ("一月底的体重", [(2026, 1, 21, 2026, 1, 31)]),
        ("2025年9月初", [(2025, 9, 1, 2025, 9, 10)]),
        ("十二月", [(2025, 12, 1, 2025, 12, 31)]),
        ("3月到5月", [(2026, 3, 1, 2026, 5, 31)]),
        ("2025年1月25日", [(2025, 1, 25, 2025, 1, 25)]),
        ("上周五", [(2026, 5, 15, 2026, 5, 15)]),
        ("上个月", [(2026, 4, 1, 2026, 4, 30)]),
        ("三个月", []),
        ("第三月", []),
        ("星期五", []),
    ],
)
def test_questions_name_spans_of_days(text: str, expected: list[tuple[int, ...]]) -> None:
    found = [(span.first, span.last) for span in time_spans(text, NOW_OF_QUERY_RANGES)]
    assert found == [(date(*days[:3]), date(*days[3:])) for days in expected]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("early March", 1, 10),
        ("the beginning of March", 1, 10),
        ("the start of March", 1, 10),
        ("mid-March", 11, 20),
        ("the middle of March", 11, 20),
        ("late March", 21, 31),
        ("the end of March", 21, 31),
        ("3月上旬", 1, 10),
        ("3月初", 1, 10),
        ("3月中旬", 11, 20),
        ("3月中", 11, 20),
        ("3月下旬", 21, 31),
        ("3月底", 21, 31),
        ("3月末", 21, 31),
    ],
)
def test_a_part_of_a_month_is_ten_days(text: str, first: int, last: int) -> None:
    now = datetime(2026, 5, 20, tzinfo=UTC)
    assert time_spans(text, now) == [(date(2026, 3, first), date(2026, 3, last))]
