"""Stating: a value counts where the sentence joins it with its subject."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.assertions import states
from kimi_memory.nlp.rules.subjects import subject_of


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("The mascot of Ember is an otter.", True),
        ("8080 is the port of Atlas.", True),
        ("Dana's code is terrible.", False),
        ("青鸾的吉祥物是水獭。", True),
        ("青鸾的端口？", False),
    ],
)
def test_a_statement_has_a_value(sentence: str, stated: bool) -> None:
    subject = subject_of(sentence)
    assert (subject is not None and states(sentence, subject)) is stated


@pytest.mark.parametrize(
    "sentence",
    [
        "8080 is the port of Atlas.",
        "Atlas has 8080 as its port.",
        "We moved Atlas's port from 8080 to 9090.",
        "Atlas (port: 8080) is what I work on.",
        "Make 8080 the port of Atlas from now on.",
        "The budget of Atlas used to be 12,500 euros, but now it's 40,000 dollars.",
        "Atlas has its main branch at develop.",
        "For our cache we use Redis.",
        "I drive a Volvo.",
        "They gave Atlas another mascot, an otter.",
        "Redis就是我们的缓存。",
        "我们以Redis作为缓存。",
        "青鸾的端口从8080调到9090。",
        "青鸾的端口有变动：9090。",
        "青鸾（端口：9090）是我这周在做的。",
        "李梅（休息日：周四）是我今天要见的。",
        "我开的是丰田。",
    ],
)
def test_a_value_may_stand_behind_its_subject_or_before_it(sentence: str) -> None:
    subject = subject_of(sentence)
    assert subject is not None
    assert states(sentence, subject)


@pytest.mark.parametrize(
    "sentence",
    [
        "We met at Dana's office in Riga.",
        "My voice makes a change.",
        "The port of Atlas is broken.",
        "The cache of Atlas was slow in May.",
        "I took photos for my father's reference.",
        "Atlas的端口很重要。",
        "青鸾的端口为什么打不开。",
        "这绝对是自律带来的正向循环，而且是非常典型的例子。",
    ],
)
def test_standing_in_one_sentence_is_not_enough(sentence: str) -> None:
    subject = subject_of(sentence)
    assert subject is None or not states(sentence, subject)
