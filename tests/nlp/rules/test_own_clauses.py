"""The clauses that a speaker says in their own words, and those beside one."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.own_clauses import (
    is_copied,
    join_items,
    leans,
    needs_before,
    own_clauses,
    widen,
)
from kimi_memory.nlp.rules.utterance import Act

TEXT = "We moved to Basel in May. The rent is lower here. Always answer in German. Can you do that?"


def test_what_is_quoted_is_not_the_speakers() -> None:
    text = 'I like the plan. He wrote: "you must never call me before nine in the morning".'
    assert next(one.text for one in own_clauses(text)).startswith("I like the plan")
    assert all("never call me" not in one.text for one in own_clauses(text))


@pytest.mark.parametrize(
    ("limit", "acts", "words"),
    [
        (300, (Act.STATEMENT,), "We moved to Basel in May. The rent is lower here."),
        (300, (Act.STATEMENT, Act.ORDER), TEXT.removesuffix(" Can you do that?")),
        (30, (Act.STATEMENT, Act.ORDER), "The rent is lower here."),
        (300, (), "The rent is lower here."),
    ],
)
def test_a_clause_is_widened_by_its_neighbours(limit: int, acts, words: str) -> None:
    own = own_clauses(TEXT)
    at = next(n for n, one in enumerate(own) if "rent" in one.text)
    start, end = widen(own, at, at, limit, acts)
    assert TEXT[start:end].strip() == words


@pytest.mark.parametrize(
    ("words", "earlier", "copied"),
    [
        (
            "Open the console and paste the key",
            "1. **Open the `console`** and\npaste the key.",
            True,
        ),
        ("打开控制台，把密钥粘贴进去", "第一步：打开控制台，把 **密钥** 粘贴进去。", True),
        ("Open the console", "1. Open the console", False),
        ("打开控制台", "打开控制台", False),
        ("Open the console and paste my name", "Open the console and paste the key", False),
    ],
)
def test_copied_words_are_known_through_markup(words: str, earlier: str, copied: bool) -> None:
    assert is_copied(words, earlier) is copied


def test_a_pronoun_and_a_word_or_two_lean_on_what_stands_beside_them() -> None:
    assert leans("never do that with the loaves of the guests")
    assert leans("以后都按这个来做")
    assert leans("never again, please")
    assert not leans("if anything is unclear, please ask me")


@pytest.mark.parametrize(
    "text", ["别这样", "不要用表格", "按那个改", "Use tabs", "don't do that in here"]
)
def test_a_few_words_and_a_pointer_lean_on_what_stands_beside(text: str) -> None:
    assert leans(text)


@pytest.mark.parametrize(
    "text",
    [
        "不确定的地方请你询问我",
        "回答一律使用公制单位",
        "其他逻辑都不要更改",
        "never push to the main branch",
    ],
)
def test_chinese_needs_no_spaces_to_say_enough(text: str) -> None:
    assert not leans(text)


def test_words_that_lead_to_a_list_are_joined_with_its_short_items() -> None:
    text = (
        "add `init`.\n\nbackends:\n- tasks.md\n- tasks.csv\n\nrule format:\n- cursor\n\nthen run it"
    )
    joined = [clause.text.strip() for clause in join_items(text, own_clauses(text))]
    assert joined == [
        "add `init`.",
        "backends:\n- tasks.md\n- tasks.csv",
        "rule format:\n- cursor",
        "then run it",
    ]


def test_a_long_list_is_joined_as_far_as_it_is_short() -> None:
    text = "the steps:\n" + "\n".join(
        f"- step {n} takes the lid off tin number {n}" for n in range(9)
    )
    first, *rest = join_items(text, own_clauses(text))
    assert first.text.startswith("the steps:\n- step 0")
    assert rest and all(clause.text.startswith("- step") for clause in rest)


@pytest.mark.parametrize(
    ("clause", "needs"),
    [
        ("I love how it's both warm and light", True),
        ("they lent us the tent for nothing", True),
        ("she's allergic to walnuts", True),
        ("I'm obsessed with those, so I planted ten", True),
        ("她每天都要喝粥", True),
        ("那是在温州买的", True),
        ("My brother says it is fine", False),
        ("Porto was loud, and I liked it", False),
        ("I think that we should go on Friday", False),
        ("这周店里盘点", False),
        ("那我周末再去买菜", False),
    ],
)
def test_a_clause_may_point_at_what_was_said_before(clause: str, needs: bool) -> None:
    assert needs_before(clause) is needs


def test_a_list_that_begins_a_turn_and_leads_to_another_stays_as_it_is() -> None:
    text = "- sails:"
    assert [one.text.strip() for one in join_items(text, own_clauses(text))] == [text]
