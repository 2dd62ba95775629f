"""What a reader keeps, as the weights in the package judge texts that they were not made of."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.learned.ngrams import MOST, places_of
from kimi_memory.nlp.learned.worth import SAID, Said, odds_of

PAIRS = [
    (Said.WORK, "guests should be able to book a loaf without an account", "fix this please"),
    (Said.WORK, "the oven list must only show loaves of the current week", "run it again"),
    (Said.WORK, "we have two bakeries, and each has its own price list", "why does it fail?"),
    (Said.WORK, "订单页面默认只显示今天的面包，不要分页", "继续"),
    (Said.WORK, "顾客不登录也应该能预订", "还是不行，再看看"),
    (
        Said.ANSWER,
        "The oven stayed cold because `heat()` reads the old sensor instead of the new one.",
        "All tests pass and the build is green.",
    ),
    (
        Said.ANSWER,
        "原因是 `oven.py` 读取了旧的传感器，所以温度一直不变。",
        "修改已完成，请您验收。",
    ),
    (Said.CHAT, "I'm a baker in Bergen and I have two daughters", "ok thanks, go on"),
    (Said.CHAT, "我在宁波开面包店，有两个女儿", "好的，继续"),
]


@pytest.mark.parametrize(("said", "kept", "left"), PAIRS)
def test_what_outlasts_the_hour_is_set_above_what_does_not(
    said: Said, kept: str, left: str
) -> None:
    assert odds_of(kept, said) > odds_of(left, said) + 0.5


@pytest.mark.parametrize("text", ["", " ", "?", "🙂", "a" * 100_000, "\x00", "字" * 50_000])
def test_any_text_has_odds(text: str) -> None:
    assert all(-30 < odds_of(text, said) < 30 for said in SAID)
    assert len(places_of(text)) <= 8 * MOST
