"""News: statements, changes and retractions told apart, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.updates import changes, takes_back, takes_this_back


@pytest.mark.parametrize(
    "sentence",
    [
        "The port of Atlas is now 9090.",
        "Atlas's port has changed to 9090.",
        "We moved the port from 8080 to 9090.",
        "Correction: my birthday is March 3.",
        "Change of plan: the release day will be Monday.",
        "I don't live in Riga any more, I live in Ghent.",
        "青鸾的端口改成9090了。",
        "青鸾的端口现在是9090。",
        "说错了，青鸾的端口是9090，不是8080。",
        "从今天起，青鸾的端口是9090。",
        "我搬到杭州了。",
    ],
)
def test_a_change_is_news(sentence: str) -> None:
    assert changes(sentence)
    assert not takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The port of Atlas is 8080.",
        "青鸾的端口是8080。",
        "青鸾的端口为8080，别弄错。",
        "I live in Riga.",
    ],
)
def test_a_first_statement_is_none(sentence: str) -> None:
    assert not changes(sentence)
    assert not takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Forget what I said about the port of Atlas.",
        "What I said about Atlas's port is no longer true.",
        "Atlas's budget is no longer 90,000 dollars.",
        "Please delete Atlas's port from your memory.",
        "Don't remember the port of Atlas any more.",
        "I take back what I said about the port.",
        "青鸾的端口别再记了。",
        "忘掉我说的青鸾的端口吧。",
        "青鸾的端口作废了。",
        "青鸾的端口不再是8080了。",
    ],
)
def test_a_retraction_takes_back(sentence: str) -> None:
    assert takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't forget the port of Atlas.",
        "Never forget to run the tests.",
        "I forgot my keys.",
        "Delete the branch of Atlas.",
        "别忘了青鸾的端口。",
        "我忘了带钥匙。",
        "青鸾的端口不再是8080，改成9090。",
        "The port is no longer 8080, it is 9090.",
    ],
)
def test_what_only_looks_like_one_does_not(sentence: str) -> None:
    assert not takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Please forget that.",
        "That's no longer true.",
        "Forget what I just said.",
        "别再记这个了。",
        "忘了吧。",
    ],
)
def test_what_was_just_said_can_be_taken_back(sentence: str) -> None:
    assert takes_this_back(sentence)


@pytest.mark.parametrize(
    "sentence", ["Forget it, let's go on.", "That's not the point.", "忘了带伞。"]
)
def test_small_talk_takes_nothing_back(sentence: str) -> None:
    assert not takes_this_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Never mind what I said about the port of Atlas.",
        "Atlas has no mascot any more.",
        "Strike the port of Atlas from your notes.",
        "You can drop the port of Atlas, it doesn't apply anymore.",
        "I'd rather you forgot the port of Atlas.",
        "We got rid of the port of Atlas.",
        "The port of Atlas is obsolete, please don't use it.",
        "青鸾的端口可以不用管了，已经不适用了。",
        "把青鸾的端口从你的笔记里划掉。",
        "青鸾没有端口了。",
        "最好忘了青鸾的端口。",
    ],
)
def test_a_retraction_may_be_put_in_many_ways(sentence: str) -> None:
    assert takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Clear the cache of Atlas.",
        "Drop the old table, please.",
        "The port of Atlas is obsolete, use 9090.",
        "My manager is no longer Pablo but Jamal.",
        "It doesn't work any more.",
        "青鸾的端口不适用了，改成9090。",
    ],
)
def test_an_order_or_another_value_takes_nothing_back(sentence: str) -> None:
    assert not takes_back(sentence)
