"""How a game or a scene is opened, and what only speaks of one."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.role_play import opens_scene


@pytest.mark.parametrize(
    "text",
    [
        "You are the dungeon master of a small village campaign.",
        "let's play a text adventure, I type commands and you answer",
        "I am going to play a single player game of chess kings and you advise me",
        "act as a text-based game about a lighthouse",
        "Can we role-play the day at court?",
        "我们来玩一个猜谜游戏吧，你先说",
        "Let’s play a guessing game!",
        "我希望你表现得像一个基于文本的冒险游戏",
        "你来扮演客栈掌柜，我是赶路的人",
    ],
)
def test_a_scene_is_opened(text: str) -> None:
    assert opens_scene([text])


@pytest.mark.parametrize(
    "text",
    [
        "act as a solar engineer and check my sums",
        "I am making a game about lighthouses",
        "my daughter plays the flute in a school play",
        "I want to run an ads campaign for my bakery",
        "can you run the iOS simulator?",
        "I'm writing a text adventure in Python",
        "our course uses role-play exercises",
        "my game master moved to Kiel",
        "当前任务：修好登录",
        "角色的血量没有减少，帮我看一下",
        "扮演专业的战略顾问角色，帮我看方案",
        "我在做一个小游戏，地图怎么存？",
        "",
    ],
)
def test_talk_of_games_and_of_trades_opens_none(text: str) -> None:
    assert not opens_scene([text])


def test_it_is_opened_near_the_beginning() -> None:
    game = "you are the dungeon master"
    assert opens_scene(["hi", "well", game])
    assert not opens_scene(["hi", "well", "so", game])
    assert not opens_scene([])


def test_who_acts_a_figure_plays_a_scene() -> None:
    acted = ["(I hide the key under the mat.)", "*She opens the old door* Who is there?"]
    said = ["I never left this house. (looks away from him)", "Tell me why."]
    assert opens_scene([*acted, *said])
    assert not opens_scene([*acted, *said[1:]])
    asides = ["Use the second one (see the note above)", "**Bold** is too wide", "* a list item"]
    assert not opens_scene([*asides, "Which port (8080 or 8081)?", "Rename it, please."])
