"""Orders to the agent and decisions by an exchange."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.host import Host
from kimi_memory.model.card import CardType
from kimi_memory.model.draft import Draft
from kimi_memory.model.origin import Origin, Role
from kimi_memory.model.session import Session, Transcript
from kimi_memory.model.turn import Turn

NOON = datetime(2026, 2, 27, 12, 0, tzinfo=UTC)


def drafts(*spoken: str, names: tuple[str, str] = ("", "")) -> list[Draft]:
    """Return what is distilled of turns in turn: a person's, the agent's (or two people's)."""
    people = any(names)
    turns = tuple(
        Turn(
            n,
            NOON,
            Role.USER if people or n % 2 else Role.ASSISTANT,
            text,
            speaker=names[(n + 1) % 2],
            origin=Origin.HUMAN if people or n % 2 else Origin.AGENT,
        )
        for n, text in enumerate(spoken, 1)
    )
    transcript = Transcript(Session("s1", NOON), turns)
    return Host(entry_points=False).answer("distil_session", transcript=transcript)


def rules(found: list[Draft]) -> list[str]:
    return [draft.value for draft in found if draft.type is CardType.RULE]


@pytest.mark.parametrize(
    "text",
    [
        "always spell my name with a k",
        "from now on quote prices in francs",
        "never suggest flights before nine",
        "whenever i paste a log, look at the timestamps first",
        "以后列清单都按价格排",
        "别再给我发表情了",
        "每次改完都要跑一遍测试",
    ],
)
def test_an_order_with_any_verb_becomes_a_rule(text: str) -> None:
    assert rules(drafts(text, "ok")) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "it always rains in Bergen",
        "i never liked the sea",
        "don't change the port of Atlas to 9090",
        "forget what I said about the port",
        "他们以后会搬走",
        "以后再说吧",
    ],
)
def test_no_order_is_made_of_a_statement(text: str) -> None:
    assert rules(drafts(text, "ok")) == []


def test_two_people_order_an_agent_nothing() -> None:
    found = drafts("always call your mother", "never forget the dog", names=("Ann", "Bob"))
    assert rules(found) == []


def test_an_order_brings_what_stands_beside_it() -> None:
    found = drafts("my daughter can't eat eggs, so always check recipes for them", "ok")
    assert rules(found) == ["my daughter can't eat eggs, so always check recipes for them"]


def test_an_order_in_a_pasted_text_is_none() -> None:
    text = 'the forum says "always book the expensive seats and never ask for a refund", hm'
    assert rules(drafts(text, "ok")) == []


OFFER = "Two ways:\n\nOption A: Patch the roof with bitumen.\nOption B: New sheets of steel."


def test_an_answer_decides_for_an_option() -> None:
    found = drafts("the shed roof leaks", OFFER, "B, it should last", "fine")
    (decision,) = (draft for draft in found if draft.type is CardType.DECISION)
    assert decision.value == "New sheets of steel."
    assert [(q.n, q.text) for q in decision.quotes] == [
        (2, "New sheets of steel."),
        (3, "B, it should last"),
    ]


@pytest.mark.parametrize("answer", ["hm, no idea", "why steel?", "both are dear"])
def test_no_decision_without_a_pick(answer: str) -> None:
    found = drafts("the shed roof leaks", OFFER, answer, "fine")
    assert not [draft for draft in found if draft.type is CardType.DECISION]


def test_a_lesson_stays_a_lesson() -> None:
    text = "教训：上次部署失败是因为没有备份，下次部署之前一定先备份。"
    assert [draft.type for draft in drafts(text, "好的。")] == [CardType.GOTCHA]
