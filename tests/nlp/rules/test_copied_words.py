"""Words that were copied from an earlier message of the agent."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.copied_words import AgentWords, thinks_of_user

SAID = "Keep the old endpapers, and glue a **new hinge** of linen below them."


def test_words_of_an_earlier_message_are_found_whatever_its_marks() -> None:
    words = AgentWords([(2, SAID), (4, "先把旧的扉页留下，再用亚麻布做新的书脊。")])
    copied = "keep the old endpapers and glue a new hinge of linen below them"
    assert words.hold(copied, 5)
    assert words.hold(copied, 3)
    assert not words.hold(copied, 2)
    assert words.hold("先把旧的扉页留下，再用亚麻布做新的书脊", 5)
    assert not words.hold("先把旧的扉页留下，再用亚麻布做新的书脊", 4)


def test_a_few_words_and_ones_own_are_not() -> None:
    words = AgentWords([(2, SAID)])
    assert not words.hold("the old endpapers", 3)
    assert not words.hold("I want to keep the old endpapers, as my grandmother wrote on them", 3)
    assert not words.hold("", 3)
    assert not AgentWords([]).hold(SAID, 9)


def test_words_do_not_reach_from_one_message_into_the_next() -> None:
    words = AgentWords([(2, "Keep the old endpapers of it"), (4, "and glue a new hinge of linen")])
    assert not words.hold("Keep the old endpapers of it and glue a new hinge of linen", 9)


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("好的，用户这次的问题非常尖锐", True),
        ("Okay, the user wants a hinge of linen.", True),
        ("The user wants to see all books at once.", False),
        ("用户登录后要能看到书单", False),
        ("Every user wants a list of books.", False),
    ],
)
def test_what_an_agent_thinks_of_the_person_is_known(text: str, *, thought: bool) -> None:
    assert thinks_of_user(text) is thought
