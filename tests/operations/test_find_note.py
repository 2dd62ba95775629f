"""Notes as people name them."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import AmbiguousIdError, NotFoundError
from kimi_memory.operations.find_note import find_note
from tests.conftest import Clock


@pytest.fixture
def cards(memory: Memory) -> dict[str, str]:
    """The ids of cards by project: the port of two, and a train of none."""
    said = {"shop": "The port is 8080.", "blog": "The port is 9090."}
    found = {
        project: memory.remember(text, key="port.web", project=project).operations[0].target
        for project, text in said.items()
    }
    train = memory.remember("The train to Oslo leaves at nine.", key="train.oslo")
    return {**found, "": train.operations[0].target}


@pytest.mark.parametrize(
    ("what", "project"), [("train.oslo", ""), ("shop/port.web", "shop"), ("blog/port.web", "blog")]
)
def test_a_key_names_its_card(
    memory: Memory, cards: dict[str, str], what: str, project: str
) -> None:
    assert find_note(memory, what) == cards[project]


def test_an_id_and_its_beginning_name_a_note(memory: Memory, cards: dict[str, str]) -> None:
    for id in cards.values():
        assert find_note(memory, id) == find_note(memory, id[:-1]) == id
    assert find_note(memory, "card-" + "0" * 26) == "card-" + "0" * 26


def test_a_key_of_two_projects_lists_both_with_their_titles(
    memory: Memory, cards: dict[str, str]
) -> None:
    with pytest.raises(AmbiguousIdError) as refused:
        find_note(memory, "port.web")
    said = str(refused.value)
    assert f"shop: {cards['shop']} “The port is 8080.”" in said
    assert "or as blog/port.web." in said
    assert "\n" not in said


def test_a_beginning_that_fits_several_lists_titles(memory: Memory, cards: dict[str, str]) -> None:
    with pytest.raises(AmbiguousIdError, match=r"“The train to Oslo leaves at nine\.”.*Type more"):
        find_note(memory, "card-")


def test_of_a_key_the_card_that_holds_is_meant(memory: Memory, clock: Clock) -> None:
    memory.remember("We use Postgres for the database.", key="decision.database")
    clock.move(days=1)
    said = "I changed my mind: for the database we switch from Postgres to SQLite."
    new = memory.remember(said, key="decision.database").operations[-1].target
    assert "SQLite" in memory.get(find_note(memory, "decision.database")).text
    assert find_note(memory, "decision.database") == new


@pytest.mark.parametrize("what", ["", "nothing.here", "port/nothing", "card-zzz"])
def test_what_names_nothing_is_not_found(memory: Memory, cards: dict[str, str], what: str) -> None:
    with pytest.raises(NotFoundError, match="No note or key"):
        find_note(memory, what)
