"""How a game or a scene is opened, and what only speaks of one."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.role_play import sets_scene


@pytest.mark.parametrize(
    "text",
    [
        "You are the dungeon master of a small village campaign.",
        "let's play a text adventure, I type commands and you answer",
        "I am going to play a single player game of chess kings and you advise me",
        "act as a text-based game about a lighthouse",
        "Let’s play a guessing game!",
        "我们来玩一个猜谜游戏吧",
        "我希望你表现得像一个基于文本的冒险游戏",
        "当前任务：去山洞找灯油",
    ],
)
def test_a_scene_is_opened(text: str) -> None:
    assert sets_scene(text)


@pytest.mark.parametrize(
    "text",
    [
        "act as a solar engineer and check my sums",
        "I am making a game about lighthouses",
        "my daughter plays the flute in a school play",
        "扮演专业的战略顾问角色，帮我看方案",
        "我在做一个小游戏，地图怎么存？",
        "",
    ],
)
def test_talk_of_games_and_of_trades_opens_none(text: str) -> None:
    assert not sets_scene(text)
