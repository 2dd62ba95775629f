"""Spans of days in questions of both languages."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from kimi_memory.nlp.dates.query_ranges import time_spans

NOW = datetime(2026, 5, 20, tzinfo=UTC)


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
    found = [(span.first, span.last) for span in time_spans(text, NOW)]
    assert found == [(date(*days[:3]), date(*days[3:])) for days in expected]
