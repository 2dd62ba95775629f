"""Words of claims in the form they are compared in."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.claim_words import claim_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I use four spaces", "i use 4 spaces."),
        ("We don't ship on Fridays", "We do not ship on Friday"),
        ("The rent is £900 a month", "the rent is 900 pounds per month"),
        ("twenty-five minutes", "25 min"),
        ("Alexis flat", "Alexis's flat"),
        ("The call is at 3 pm", "The call is at 15:00"),
        ("房租一个月三千五百块", "房租每月3500元"),
        ("部署无需审批", "部署不需要审批"),
        ("星期五别发版", "周五不要发版"),
        ("五点三刻", "5:45"),
        ("預算是五萬元", "预算是五万元"),
    ],
)
def test_two_forms_have_the_same_words(one: str, other: str) -> None:
    assert claim_words(one) == claim_words(other)


def test_small_words_of_a_value_stay() -> None:
    assert claim_words("成都", whole=True) != claim_words("成", whole=True)


def test_a_number_word_before_another_word_stays_a_number() -> None:
    assert claim_words("ninety percent") == ("90", "u:percent")
