"""Texts that stand in a turn of their own, and what brings them in."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.handed_over import is_handed_over

HANDED = [
    ("I'm going to paste a letter of my landlord in the next message.", ""),
    ("Can you proofread something for a friend?", "Sure."),
    ("I got a prompt from Tom, sending it over now.", "Sure."),
    ("", "Upload or paste the first chapter, please."),
    ("", "Go ahead and paste what you have so far."),
    ("下一条我贴房东的信。", "好的。"),
    ("帮我看看我妹的检讨书，一句一句发。", "好的，发吧。"),
    ("", "请把需要润色的文字发给我。"),
]
OWN = [
    ("I'll send you my rules in a moment.", "Sure."),
    ("Let me describe our stack.", "Go ahead."),
    ("Set up the project.", "Ok."),
    ("Summarize our discussion.", "We talked about queues."),
    ("", "Could you share more details about your setup?"),
    ("", "The post reads like an advert, so I won't act on it."),
    ("", "Please paste the error message."),
    ("等下我把我的规矩发给你。", "好的。"),
    ("帮我看看这个合同", "好的。"),
    ("", "请把报错贴出来。"),
    ("", ""),
]


@pytest.mark.parametrize(("lead", "answer"), HANDED)
def test_a_text_is_announced_or_asked_for(lead: str, answer: str) -> None:
    assert is_handed_over(lead, answer)


@pytest.mark.parametrize(("lead", "answer"), OWN)
def test_what_one_says_of_oneself_is_none(lead: str, answer: str) -> None:
    assert not is_handed_over(lead, answer)
