"""Days that texts name: whether two name the same one, and whether they are over."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.nlp.dates.named_days import is_of_these_days, share_day

THURSDAY = datetime(2026, 3, 12, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Evening note 2026-03-12: the violin was out of tune again.",
        "On 10 March we cleaned the greenhouse.",
        "Yesterday we saw the 3rd of March exhibition.",
        "Slot for ironing on March 12, 2026, 17:00 to 18:00.",
        "I have to return the drill tomorrow.",
        "3月12日晚间记录：喝水两升。",
        "今天下午把窗帘洗了。",
        "2026年3月9日参观了钟楼。",
        "前天骑车去了水库。",
        "明天早上先浇花。",
    ],
)
def test_what_was_this_week_is_of_these_days(text: str) -> None:
    assert is_of_these_days(text, THURSDAY)


@pytest.mark.parametrize(
    "text",
    [
        "The lease ends on 30 June.",
        "The plumber comes next Tuesday.",
        "Since 2019-04-01 the shop belongs to my aunt.",
        "We moved in on 2 February.",
        "The recital is next month, and I practised today.",
        "Rehearsal is every Monday.",
        "The flat is on the third floor.",
        "合同到6月30日为止。",
        "下个月去看极光。",
        "2019年4月搬来这里。",
    ],
)
def test_what_is_to_come_or_long_ago_is_not(text: str) -> None:
    assert not is_of_these_days(text, THURSDAY)


def test_a_day_may_be_named_without_its_month() -> None:
    assert share_day("we leave on 12 May", "the 12th is fine")
    assert not share_day("we leave on 12 May", "12 June is fine")
