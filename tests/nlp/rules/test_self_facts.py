"""Selves: verbs that tell something of their speaker, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.self_facts import answered, asked_of, self_of


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("I live in Riga.", "city", "Riga"),
        ("I've moved from Riga to Ghent.", "city", "Ghent"),
        ("We left Riga and live in Ghent now.", "city", "Ghent"),
        ("Home for me is Ghent.", "city", "Ghent"),
        ("I quit Orbis and joined Marlow.", "employer", "Marlow"),
        ("I have a job at Orbis.", "employer", "Orbis"),
        ("I work as a nurse.", "job", "nurse"),
        ("I became a team lead.", "job", "team lead"),
        ("I run a flower shop.", "job", "a flower shop"),
        ("I own a small bookshop in Hull.", "job", "a small bookshop"),
        ("我自己是做茶叶生意的。", "job", "茶叶生意"),
        ("我经营着一家陶艺工作室。", "job", "一家陶艺工作室"),
        ("I traded my Mazda for a Volvo, that's my car now.", "car", "Volvo"),
        ("I report to Helen.", "boss", "Helen"),
        ("I can't eat soy, I'm allergic.", "diet", "soy"),
        ("I get up at 6:30 now.", "wake", "6:30"),
        ("I moved from Vim to Zed as my editor.", "editor", "Zed"),
        ("My birthday is not May 4 but June 5.", "birthday", "June 5"),
        ("我目前住青岛。", "city", "青岛"),
        ("我搬家了，现在住青岛。", "city", "青岛"),
        ("我离开飞鸟网络，加入了山海数据。", "employer", "山海数据"),
        ("我给山海数据打工。", "employer", "山海数据"),
        ("我担任产品经理。", "job", "产品经理"),
        ("我换车了，现在开大众。", "car", "大众"),
        ("我不是对杏仁过敏，是对大豆过敏。", "diet", "大豆"),
        ("我把闹钟从8:00调到7:15。", "wake", "7:15"),
        ("我现在喝可可，不喝冰咖啡了。", "drink", "可可"),
    ],
)
def test_a_verb_gives_its_speaker_a_value(sentence: str, attribute: str, value: str) -> None:
    told = self_of(sentence)
    assert told is not None
    assert (told.attribute, told.value) == (attribute, value)


@pytest.mark.parametrize(
    "sentence",
    [
        "I joined Priya for lunch.",
        "I'm on the hunt for a studio.",
        "I became a father.",
        "我还去买菜。",
        "我开会去了。",
        "It rains.",
    ],
)
def test_other_doings_tell_nothing_that_lasts(sentence: str) -> None:
    told = self_of(sentence)
    assert told is None or told.attribute not in ("employer", "timezone", "job", "car")


def test_a_question_asks_for_what_an_answer_gives() -> None:
    assert asked_of("Where do you live?") == "city"
    assert asked_of("你对什么过敏？") == "diet"
    assert asked_of("How are you?") == ""
    assert answered("city", "Riga", zh=False) == "I live in Riga."
    assert answered("city", "成都", zh=True) == "我住在成都。"
