"""Whose word a card or a digest is, where a memory holds more than one person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.session import SHARED
from kimi_memory.store.notes.notes import Shelf, Speakers, several
from tests.jobs.edited_pages import cards, edit, page

ANN, LI = "I live in Edinburgh, near the castle.", "我住在成都，离人民公园不远。"


def talk(memory: Memory, id: str, *said: tuple[str, str], project: str = "") -> None:
    session = memory.session(id, project=project)
    for speaker, text in said:
        session.turn(Role.USER, text, speaker=speaker)
        session.turn(Role.ASSISTANT, "Noted.", speaker="Kimi")
    session.end()


def line_with(text: str, words: str) -> str:
    [found] = [line for line in text.splitlines() if words in line]
    return found


def test_each_line_says_whose_it_is_where_two_people_speak(memory: Memory) -> None:
    talk(memory, "a", ("Ann", ANN), project="tent")
    talk(memory, "b", ("李雷", LI), project="灶")
    for text in (page(memory), memory.context("start").text):
        assert "(Ann, 2" in line_with(text, "Edinburgh")
        assert "（李雷，2" in line_with(text, "成都")


def test_nothing_is_said_of_the_only_person(memory: Memory) -> None:
    talk(memory, "a", ("Ann", ANN))
    talk(memory, "b", ("ann", "I prefer short answers with the conclusion first."))
    talk(memory, "c", ("", "I prefer tea over coffee in the morning."))
    for text in (page(memory), memory.context("start").text):
        assert "Ann" not in text
        assert "ann," not in text


def test_a_line_with_a_name_can_be_edited(memory: Memory) -> None:
    talk(memory, "a", ("Ann", ANN), project="tent")
    talk(memory, "b", ("李雷", LI), project="灶")
    edit(memory, "Edinburgh", "Glasgow")
    memory.take_edits()
    # The name is a label, so it does not become a part of what the card says.
    assert [one.value for one in cards(memory) if "Glasgow" in one.value] == [
        ANN.replace("Edinburgh", "Glasgow")
    ]


def test_where_several_speak_in_one_session_the_text_names_them(memory: Memory) -> None:
    talk(memory, "a", ("Ann", ANN), ("Ben", "I live in Oslo, close to the harbour."))
    assert Speakers(Shelf(memory.store)).of_session("a") == ""


@pytest.mark.parametrize(
    ("speaker", "shown"),
    [("Ann (work), x]", "Ann work x"), ('Ann "A" B', 'Ann "A" B'), ("x" * 40, ""), ("", "")],
)
def test_a_name_is_made_fit_for_a_label(memory: Memory, speaker: str, shown: str) -> None:
    talk(memory, "a", (speaker, ANN))
    assert Speakers(Shelf(memory.store)).of_session("a") == shown


def test_a_session_that_is_not_there_names_nobody(memory: Memory) -> None:
    assert Speakers(Shelf(memory.store)).of_session("none") == ""
    assert Speakers(Shelf(memory.store)).of_card("card-none") == ""


def test_names_that_differ_in_case_are_one_person() -> None:
    assert not several(["Ann", "ann", ""])
    assert several(["Ann", "Ben"])


def test_a_shared_card_names_nobody_of_a_private_session(memory: Memory) -> None:
    talk(memory, "a", ("Ann", ANN))
    session = memory.session("p", user="zoe", area="user")
    session.turn(Role.USER, "I live in Leith.", speaker="Zoe")
    session.end()
    home = next(card for card in cards(memory) if "Edinburgh" in card.value)
    quote = replace(home.quotes[0], session="p", text="I live in Leith.")
    both = replace(home, quotes=(home.quotes[0], quote))
    people = Speakers(Shelf(memory.store), {both.id: both})
    assert people.of_card(both.id, SHARED) == "Ann"
    assert people.of_card(both.id, "user:zoe") == "Ann & Zoe"
