"""Clauses of chats: orders, and what only looks like one."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.chat_clauses import chat_clauses, gives_standing_order
from kimi_memory.nlp.rules.utterance import Act


@pytest.mark.parametrize(
    "text",
    [
        "Should you leave out the greetings?",
        "My boss told me to always copy him.",
        "If only people stopped shouting in meetings.",
        "make the second line a bit longer",
        "把最后一段删掉 重新来",
        "We sold the boat in May.",
        "also why dont we keep the receipts instead of throwing them out each time",
        "remind me on Friday to water the tomatoes",
        "",
    ],
)
def test_questions_wishes_for_now_and_words_of_others_are_none(text: str) -> None:
    assert Act.ORDER not in {clause.act for clause in chat_clauses(text)}


def test_a_pasted_text_has_no_clauses_of_the_speaker() -> None:
    text = 'Translate this: "Dear all, no exclamation marks in your replies to me."'
    assert Act.ORDER not in {clause.act for clause in chat_clauses(text)}


@pytest.mark.parametrize(
    "text",
    [
        "这个强度安排可以接受，谢谢你的建议。",
        "我需要一个框架来快速排序，并确保都能高效推进。",
        "东西不少，想听听你对先后顺序的看法。",
        "Thank you for being so patient with all my questions tonight.",
        "I'd like you to help me plan the route so that my parents don't get tired.",
        "My shop is small, so I want to know which fabrics sell without much storage.",
    ],
)
def test_thanks_wishes_for_now_and_circumstances_order_nothing_for_ever(text: str) -> None:
    assert Act.ORDER not in {clause.act for clause in chat_clauses(text)}


@pytest.mark.parametrize(
    "text",
    [
        "From now on send the totals as CSV.",
        "以后报价都先写含税价",
        "别叫我李总，叫我老李就行",
        "call me Jo",
    ],
)
def test_a_turn_that_orders_for_always_is_known_as_one(text: str) -> None:
    assert gives_standing_order(text)


@pytest.mark.parametrize(
    "text",
    [
        "可能以后会开第二家店，现在还说不准。",
        "早上八点以后才有空",
        "it's called Ardea from now on",
        "You said it was gone, but it has always been there.",
        "The build is slow today.",
        "",
    ],
)
def test_a_word_of_always_alone_orders_nothing(text: str) -> None:
    assert not gives_standing_order(text)


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        (
            "articles on how to knead rye, useful ones first, do not include anything unrelated",
            False,
        ),
        (
            "now imagine a letter to our guests with all that we spoke of: how the bakery began,"
            " how we lost the oven in May, where we want to be next year, and do not make it long",
            False,
        ),
        ("I'm 71 and half blind, don't use emojis", True),
        ("write the letter about the oven. never use the word artisan", True),
        ("please don't flatter me", True),
    ],
)
def test_the_bound_of_an_errand_is_no_order(text: str, *, ordered: bool) -> None:
    assert any(clause.act is Act.ORDER for clause in chat_clauses(text)) is ordered
