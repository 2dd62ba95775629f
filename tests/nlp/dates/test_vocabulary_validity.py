"""Ends that are told in words: what holds until when, in Chinese and English, and in German."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from kimi_memory.nlp.dates.vocabulary import until

SAID = datetime(2026, 2, 27, 9, 30, tzinfo=UTC)
"""A Friday."""


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("The owner of Atlas is Dana until June.", date(2026, 6, 1)),
        ("Dana owns it until the end of March", date(2026, 4, 1)),
        ("The freeze holds through March 2027.", date(2027, 4, 1)),
        ("The port is 8080 until 30 June 2026.", date(2026, 7, 1)),
        ("The port is 8080 till March 5th.", date(2026, 3, 6)),
        ("until 2026-03-01 we use the old key", date(2026, 3, 2)),
        ("The office is closed till Friday.", date(2026, 2, 28)),
        ("It stays so until next Monday", date(2026, 3, 3)),
        ("It stays so until the end of the month", date(2026, 3, 1)),
        ("It stays so until the end of next year", date(2028, 1, 1)),
        ("It is mine until the end of the week", date(2026, 3, 2)),
        ("I am away until January", date(2027, 1, 1)),
        ("I am away through January", date(2027, 2, 1)),
        ("青鸾的负责人到六月为止是王芳。", date(2026, 7, 1)),
        ("青鸾的负责人是王芳，截至6月30日。", date(2026, 7, 1)),
        ("门禁卡有效期至2026年12月31日", date(2027, 1, 1)),
        ("办公室关到下周五为止", date(2026, 3, 7)),
        ("办公室一直到周日都关着", date(2026, 3, 2)),
        ("冻结持续到十二月", date(2027, 1, 1)),
        ("优惠到月底为止", date(2026, 3, 1)),
        ("合同到明年3月底为止", date(2027, 4, 1)),
        ("合同直到一月中旬", date(2027, 1, 21)),
        ("合同直到四月初", date(2026, 4, 1)),
        ("活动到2026-03-05结束", date(2026, 3, 6)),
        ("Dana ist bis Juni zuständig", date(2026, 7, 1)),
        ("Das gilt bis 15. März 2026.", date(2026, 3, 16)),
        ("Das gilt bis Januar.", date(2027, 2, 1)),
    ],
)
def test_the_end_is_the_moment_from_which_it_does_not_hold(text: str, end: date) -> None:
    found = until(text, SAID)
    assert found is not None
    assert (found.date(), found.timetz()) == (end, SAID.timetz().replace(hour=0, minute=0))


@pytest.mark.parametrize(
    "text",
    [
        "It ran until 2024-01-01.",
        "Let's wait until we talk.",
        "Up to 5 May users can log in.",
        "until February 31",
        "through the wall",
        "到了六月再说",
        "从六月开始",
        "到十三月为止",
        "截至13月",
        "他到家了",
        "Bisher gilt das.",
    ],
)
def test_what_names_no_end_ahead_has_none(text: str) -> None:
    assert until(text, SAID) is None


def test_days_are_those_of_who_speaks() -> None:
    said = SAID.astimezone(timezone(timedelta(hours=8)))
    found = until("截至3月31日", said)
    assert found is not None
    assert found.isoformat() == "2026-04-01T00:00:00+08:00"
