"""Orders and wishes to remember in any words, kept of chats with an assistant."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import CardType, Status
from kimi_memory.store.notes.notes import Shelf

WISH = "note to self via you: the boiler code is written inside the pantry door"


def talk(memory: Memory, *turns: tuple[str, str]) -> dict[str, CardType]:
    session = memory.session("s")
    for role, text in turns:
        session.turn(role, text)
    session.end()
    found = (filed.note for filed in Shelf(memory.store).notes("card"))
    return {card.value: card.type for card in found if card.status is Status.ACTIVE}


def test_a_wish_in_odd_words_is_kept(memory: Memory) -> None:
    found = talk(memory, ("user", "Hi"), ("assistant", "Hello."), ("user", WISH))
    assert found == {WISH: CardType.FACT}


@pytest.mark.parametrize(
    "text", ["no exclamation marks with me, I'm not five", "跟我说话别一口一个亲"]
)
def test_an_order_in_odd_words_is_kept_as_a_rule(memory: Memory, text: str) -> None:
    found = talk(memory, ("user", "Hi"), ("assistant", "Hello."), ("user", text))
    assert found == {text: CardType.RULE}


def test_what_a_rule_read_otherwise_stays_what_it_is(memory: Memory) -> None:
    said = "We decided to use pytest for the tests, no mocks."
    assert talk(memory, ("user", said), ("assistant", "Fine.")) == {said: CardType.DECISION}


@pytest.mark.parametrize(
    "text",
    [
        "we might add a members' area later, too early to say",
        "do you remember where the boiler code is",
        "remind me what that film with the boiler was called",
        'Translate this: "note to self via you: the boiler code is in the pantry"',
    ],
)
def test_a_question_or_a_pasted_text_asks_for_nothing(memory: Memory, text: str) -> None:
    assert talk(memory, ("user", text), ("assistant", "Well.")) == {}


def test_words_that_the_assistant_said_first_are_no_wish(memory: Memory) -> None:
    assert talk(memory, ("user", "Hi"), ("assistant", f"You said: {WISH}"), ("user", WISH)) == {}


def test_a_note_that_nobody_answers_is_left_to_the_rules(memory: Memory) -> None:
    assert talk(memory, ("user", WISH)) == {}
