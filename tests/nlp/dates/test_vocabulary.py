"""Names and numbers of days, weeks, months and years in Chinese and English."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.dates.vocabulary import names_day, tells_life


@pytest.mark.parametrize(
    "text",
    [
        "the inspection is on 14 may",
        "we land on June 3rd",
        "the grant runs until march",
        "the roof was done in 2019",
        "they close next week",
        "体检约在8月2号",
        "护照明年到期",
        "下周三交稿",
        "老房子2018年买的",
    ],
)
def test_a_day_of_the_calendar_is_named(text: str) -> None:
    assert names_day(text)


@pytest.mark.parametrize(
    "text",
    [
        "you may not park here",
        "it may be late",
        "3号楼的电梯坏了",
        "some day we will",
        "迟早的事",
        "march on",
    ],
)
def test_no_day_is_named(text: str) -> None:
    assert not names_day(text)


@pytest.mark.parametrize(
    "text",
    [
        "I got the job at the harbour",
        "they moved to Porto",
        "she was born in Ghent",
        "他升职了",
        "我们搬到宁波了",
    ],
)
def test_a_turn_of_life_is_told(text: str) -> None:
    assert tells_life(text)


@pytest.mark.parametrize("text", ["I had soup today", "the bus was late", "今天下雨", "我在看书"])
def test_everyday_things_are_no_turn_of_life(text: str) -> None:
    assert not tells_life(text)
