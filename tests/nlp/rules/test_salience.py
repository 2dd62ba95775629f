"""What the words of a clause show."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.salience import traits_of, weight_of


@pytest.mark.parametrize(
    ("telling", "talk"),
    [
        ("I sold the caravan to a plumber from Kiel", "I'm so happy it all worked out for you"),
        ("our bakery opens at six", "that sounds amazing, keep it up"),
        ("We renamed the billing service", "Thanks for always being there for me"),
        ("我在青岛开了一家花店", "你真的太厉害了，加油"),
        ("发动机漏机油", "谢谢你，真的很开心"),
    ],
)
def test_small_talk_names_less_than_a_statement(telling: str, talk: str) -> None:
    assert traits_of(telling).specific > traits_of(talk).specific + 0.9


@pytest.mark.parametrize(
    ("clause", "trait"),
    [
        ("it costs 40 euros", "figure"),
        ("一共花了三百块", "figure"),
        ("the exam is on Friday", "day"),
        ("下周要交房租", "day"),
        ("we bought it last year", "me"),
        ("我自己修的", "me"),
        ("your garden looks nice", "you"),
        ("my brother drives a bus", "kin"),
        ("我弟弟在念大学", "kin"),
        ("we went with the cheaper tyres", "choice"),
        ("最后决定走高速", "choice"),
        ("maybe we should paint it", "doubt"),
        ("也许会下雨", "doubt"),
        ("What a day!", "sharp"),
    ],
)
def test_a_trait_is_seen(clause: str, trait: str) -> None:
    assert getattr(traits_of(clause), trait)


def test_names_and_code_are_counted() -> None:
    assert traits_of("we met Hannah Booth at `git.example`").name >= 2
    assert traits_of("we met them there").name == 0


def test_nothing_is_said_by_nothing() -> None:
    assert traits_of("").specific == 0
    assert traits_of("!!!").words == 0


def test_a_life_event_outweighs_encouragement() -> None:
    def weigh(text: str) -> float:
        return weight_of(traits_of(text))

    assert weigh("We sold the flat in Lyon in June") > 3
    assert weigh("You're doing great, keep going!") <= 0
    assert weigh("我妹妹六月在里昂开了诊所") > weigh("加油，你可以的") + 2
