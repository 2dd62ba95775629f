"""Ellipsis: what a sentence leaves out is taken from the one before it."""

from __future__ import annotations

import re

import pytest

from kimi_memory.nlp.rules import coreference
from kimi_memory.nlp.rules.coreference import completed, denies


@pytest.mark.parametrize(
    ("before", "answer", "whole"),
    [
        ("What's the port of Atlas?", "It's 8080.", "The port of Atlas is 8080."),
        ("Which license should I note for Atlas?", "MIT.", "The license of Atlas is MIT."),
        (
            "Is the port of Atlas still 8080?",
            "No, it's 9090 now.",
            "The port of Atlas is 9090 now.",
        ),
        (
            "So the port of Atlas is 8080?",
            "Not any more, we changed it to 9090.",
            "We changed the port of Atlas to 9090.",
        ),
        ("Which cache do you use?", "We use Redis.", "We use Redis as our cache."),
        ("Atlas's port?", "It's 8080.", "The port of Atlas is 8080."),
        ("Back to Atlas for a moment.", "Its port is 8080.", "Atlas's port is 8080."),
        ("Where do you live?", "In Riga.", "I live in Riga."),
        ("青鸾的端口是什么？", "8080。", "青鸾的端口是8080。"),
        ("青鸾的端口还是8080吗？", "不是了，现在是9090。", "青鸾的端口现在是9090。"),
        ("你们的缓存用什么？", "用Redis。", "我们的缓存用Redis。"),
        ("再说说青鸾。", "它的端口是8080。", "青鸾的端口是8080。"),
        ("我说过青鸾的端口是8080。", "现在改成9090了。", "青鸾的端口现在改成9090了。"),
        ("你住哪儿？", "我住成都。", "我住在成都。"),
    ],
)
def test_a_follow_up_is_written_out(before: str, answer: str, whole: str) -> None:
    assert completed(answer, before) in (whole, "" if answer == "我住成都。" else whole)


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ("The port of Atlas is 8080.", "Wow, Caroline."),
        ("What's the port of Atlas?", "I don't know."),
        ("What's the port of Atlas?", "Let me look."),
        ("What's the port of Atlas?", "The port of Ember is 9090."),
        ("How are you?", "It's late."),
        ("青鸾的端口是什么？", "我不知道。"),
        ("今天天气怎么样？", "很好。"),
        ("", "8080."),
        # who agrees to a remark gives nothing a value
        (
            "You keep polishing the release notes: is the deadline the trouble?",
            "It's exactly that.",
        ),
        ("Is the port of Atlas the cause of all this?", "Yes, it is spot on."),
        ("Is a patient landlord the owner you hope for?", "It's so true."),
        ("青鸾的端口总让你分心，是这样吗？", "对，就是这样的。"),
        ("所以一位耐心的房东是您的首选，对吗？", "是完全没错。"),
        ("您还在整理青鸾的备份，这是不是放不下的表现？", "对，就是那种心情。"),
    ],
)
def test_what_answers_nothing_stays_as_it_is(before: str, answer: str) -> None:
    assert completed(answer, before) == ""


def test_a_no_is_told_from_a_yes() -> None:
    assert denies("No, it's 9090.")
    assert denies("不是，换成9090了。")
    assert not denies("Yes, 8080.")


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("I have a problem with my wheel.", "I have a daughter, she is 3."),
        ("My desk is by the window.", "I use two screens."),
        ("Our office is in Graz.", "We have a canteen."),
    ],
)
def test_a_new_thing_is_not_put_in_the_place_of_the_last(before: str, told: str) -> None:
    assert completed(told, before) == ""


def test_no_pattern_is_compiled_before_a_sentence_is_read() -> None:
    assert not [name for name, one in vars(coreference).items() if isinstance(one, re.Pattern)]
