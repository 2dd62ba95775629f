"""What tells a later reader nothing, in both languages, and what only looks like it."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.small_talk import cheer_of, is_mood, laughs, says_nothing


@pytest.mark.parametrize(
    "clause",
    [
        "sorry, pressed stop by mistake, please continue",
        "please commit and push the changes",
        "ok now run it again",
        "restart the dev server please",
        "approved",
        "帮我启动一下项目",
        "（批准计划）",
        "重新运行一下测试看看",
        "不小心点到取消了",
        "testing special characters: é ñ 中",
        "this is just a test message",
        "测试一下！",
        "just kidding, we keep the boat",
        "my neighbour says he sold his boat",
        "我老婆说我记账简直像记仇",
        "https://example.org/a/b",
        "PORT=8080",
        "烘焙网站\\16.配方",
        "curl 'https://example.org/oven' \\",
        "src/oven.py:12 in bake",
    ],
)
def test_what_tells_nothing(clause: str) -> None:
    assert says_nothing(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "commit after each finished loaf",
        "run the oven at 230 degrees for the rye",
        "start the dough the evening before",
        "push the delivery to Thursday",
        "继续用老面，不换酵母",
        "启动页要换成绿色",
        "提交前先跑一遍检查",
        "test the oven with the new thermometer before the fair",
        "测试环境在二号机上",
        "my sister says the yeast in Lund is better",
        "医生说我的血压比去年高",
        "我不小心碰伤了右手",
        "I stopped the pills by mistake in March",
    ],
)
def test_what_only_begins_like_small_talk_tells_something(clause: str) -> None:
    assert not says_nothing(clause)


def test_a_mood_is_of_the_moment() -> None:
    assert is_mood("ugh, I hate this")
    assert not is_mood("I hate raisins in bread")


def test_a_cheer_loses_weight_and_a_plan_with_a_day_loses_none() -> None:
    cheer, plan = "let's keep going, you got this", "let's meet at the kiln on 3 May"
    assert cheer_of(cheer, traits_of(cheer)) > cheer_of(plan, traits_of(plan)) == 0


@pytest.mark.parametrize(
    ("clause", "laughing"),
    [
        ("haha the third prize was a kettle", True),
        ("第三名奖了个水壶 哈哈", True),
        ("the third prize was a kettle", False),
    ],
)
def test_laughter_is_heard_and_what_is_laughed_at_still_told(clause: str, laughing: bool) -> None:
    assert laughs(clause) is laughing
    assert not says_nothing(clause)
