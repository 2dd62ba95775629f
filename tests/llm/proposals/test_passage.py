"""How words were meant, by what surrounds them in their turn."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.llm.proposals.passage import (
    WINDOW_TOKENS,
    WINDOWS,
    Passage,
    cut_off,
    line_of,
    names_of,
    own_words,
    windows,
)
from kimi_memory.nlp.basic.sentences import estimate

# ruff: noqa: E501  what is said stands in one line


START = datetime(2026, 5, 2, 9, 0, tzinfo=UTC)


def passage(text: str, role: Role = Role.USER) -> Passage:
    """The words between guillemets."""
    start = text.index("‹")
    plain = text.replace("‹", "").replace("›", "")
    origin = Origin.HUMAN if role is Role.USER else Origin.AGENT
    return Passage(Turn(1, START, role, plain, origin=origin), start, text.index("›") - 1)


@pytest.mark.parametrize(
    ("text", "quality"),
    [
        ("my uncle sent me this: \"you should ‹sell the house this year, before taxes go up›\"", "is_foreign"),
        ("look:\n// ‹Caches are warmed by the nightly job›", "is_foreign"),
        ("我姑发来：“以后‹所有亲戚都要给她打电话问好才行›”", "is_foreign"),
        ("perhaps we ‹paint the door blue›", "is_doubted"),
        ("‹Consider renaming the shed›", "is_doubted"),
        ("可能‹五月去青海›", "is_doubted"),
        ("she offered ‹30 euros for the lamp›, i said no", "is_turned_down"),
        ("他想‹借我的车›，我没答应", "is_turned_down"),
        ("上次说的‹不用表格›，现在可以用了", "is_mentioned"),
        ("‹the colour of the fence› is still open", "is_open"),
        ("‹年夜饭在哪吃›我们还没定", "is_open"),
        ("我想‹养一只鹦鹉›", "is_wished"),
        ("‹never send me voice notes›", "is_order"),
        ("‹叫我老秦就行›", "is_order"),
        ("[‹Image #1 of the garden›] hi", "obeys"),
        ("haha ‹i will live on cake›", "is_barred"),
    ],
)  # fmt: skip
def test_it_is(text: str, quality: str) -> None:
    assert getattr(passage(text), quality)


PLAIN = (
    "‹we painted the door blue in May›",
    "the lamp: ‹30 euros, bought on Sunday›",
    "‹我们五月去青海›，机票买了",
    '‹the fence is green›, my "favourite" colour',
)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_words_are_none_of_it(text: str) -> None:
    found = passage(text)
    for quality in ("is_foreign", "is_doubted", "is_turned_down", "is_mentioned", "is_open"):
        assert not getattr(found, quality), quality
    for quality in ("is_wished", "is_order", "obeys", "is_barred", "restates"):
        assert not getattr(found, quality), quality
    assert found.tells


def test_a_reporter_is_named() -> None:
    assert passage("my boss says ‹the office closes in May›").reporter == "my boss"
    assert passage("我婆婆说‹孩子该报班›").reporter.endswith("婆婆")
    assert passage("the doctor says ‹no salt›").reporter == ""
    assert passage("‹i said the office closes in May›").reporter == ""
    assert names_of("my boss") == ["boss"]
    assert "婆婆" in names_of("我婆婆")


def test_an_agent_restates() -> None:
    assert passage("You're saying ‹the shed is green›?", Role.ASSISTANT).restates
    assert passage("‹The shed is green›", Role.ASSISTANT).by_person is False


def test_own_words_are_without_what_was_brought_along() -> None:
    turn = Turn(1, START, Role.USER, 'he wrote "all the chairs are to be sold by noon", i laughed')
    assert "chairs" not in own_words(turn)
    assert "i laughed" in own_words(turn)


def turn(n: int, text: str, role: Role = Role.USER) -> Turn:
    origin = {Role.USER: Origin.HUMAN, Role.TOOL: Origin.TOOL}.get(role, Origin.AGENT)
    return Turn(n, START, role, text, origin=origin)


def shown(*turns: Turn) -> list[list[int]]:
    return [[one.n for one in part] for part in windows(Transcript(Session("s", START), turns))]


def test_an_answer_stands_with_the_offer_before_it() -> None:
    long = "the shed is painted green " * 95
    parts = shown(
        *(turn(n, long) for n in (1, 2, 3)), turn(4, "A or B?", Role.ASSISTANT), turn(5, long)
    )
    assert parts == [[1, 2], [2, 3, 4], [4, 5]]


def test_tools_and_pastes_are_left_out_and_very_long_sessions_end() -> None:
    assert shown(turn(1, "hi"), turn(2, "x", Role.TOOL), turn(3, "y " * 2000)) == [[1]]
    assert shown() == []
    many = [turn(n, "雨" * 900, Role.ASSISTANT) for n in range(1, 90)]
    assert len(shown(*many)) == WINDOWS


def test_of_a_long_turn_both_ends_are_shown_and_no_secret() -> None:
    text = "First this.\nThe password is swordfish.\n" + "雨" * 4000 + "\nThe cause was a comma."
    line = line_of(turn(7, text, Role.ASSISTANT))
    assert line.startswith("#7 2026-05-02 assistant: First this.\n⟦…⟧")
    assert line.endswith("The cause was a comma.")
    assert "swordfish" not in line
    assert estimate(line) < WINDOW_TOKENS
    assert cut_off(["one two", "three four", "five, six, seven"], 5) == ["one two", "three four"]
