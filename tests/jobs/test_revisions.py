"""Changes that are worth a card since an earlier session said otherwise."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Card, Status
from kimi_memory.store.notes.notes import Shelf

Talks = Callable[..., dict[str, Card]]


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """Return what holds sessions, three weeks apart, and gives the cards by their words."""
    now = [datetime(2026, 3, 2, 10, tzinfo=UTC)]
    opening = Opening(clock=lambda: now[0], background=False)
    Memory.create(tmp_path / "m", opening=opening).close()

    def run(*sessions: list[str], speakers: tuple[str, ...] = ("",)) -> dict[str, Card]:
        with Memory.open(tmp_path / "m", opening) as memory:
            for number, said in enumerate(sessions):
                session = memory.session(f"s{number}")
                for turn, text in enumerate(said):
                    session.turn("user", text, speaker=speakers[turn % len(speakers)])
                    if len(speakers) == 1:
                        session.turn("assistant", "understood, thank you")
                session.end()
                now[0] += timedelta(days=21)
            shelf = Shelf(memory.store)
            return {card.value: card for card in shelf.cards([h.key for h in shelf.heads()])}

    return run


def ended(cards: dict[str, Card]) -> str:
    return " | ".join(value for value, card in cards.items() if card.status is Status.SUPERSEDED)


def live(cards: dict[str, Card]) -> str:
    return " | ".join(value for value, card in cards.items() if card.status is Status.ACTIVE)


@pytest.mark.parametrize(
    ("first", "later", "old", "new"),
    [
        (
            "we have 14 walnut crates in the cellar of our shop in Graz",
            "counted again, we have 17 walnut crates instead of 14",
            "14 walnut crates",
            "17 walnut crates",
        ),
        (
            "thursdays i take Ines to choir and we get ramen",
            "choir moves to mondays, so no ramen with Ines",
            "ramen",
            "moves to mondays",
        ),
        (
            "我不在家的时候我妈的邻居老秦来喂鹦鹉，每周两次",
            "老秦搬走了，鹦鹉这次送到姑姑家",
            "老秦来喂鹦鹉",
            "老秦搬走了",
        ),
        (
            "please never edit the glossary, that is Pim's",
            "Pim left, so you may edit the glossary with a review",
            "never edit the glossary",
            "may edit the glossary",
        ),
    ],
)
def test_a_change_and_what_it_changes_become_cards(
    talks: Talks, first: str, later: str, old: str, new: str
) -> None:
    cards = talks([first, "the weather is fine"], [later])
    assert old in ended(cards)
    assert new in live(cards)


@pytest.mark.parametrize(
    "later",
    [
        "what if we had 17 walnut crates instead of 14?",
        "maybe 17 walnut crates instead of 14, not decided",
        "i heard there are 17 walnut crates instead of 14, but i'm not sure",
    ],
)
def test_what_is_only_thought_of_changes_nothing(talks: Talks, later: str) -> None:
    assert not ended(talks(["there are 14 walnut crates in the cellar"], [later]))


def test_a_change_of_nothing_that_is_known_makes_no_pair(talks: Talks) -> None:
    cards = talks(["the choir sings in Lund"], ["17 walnut crates instead of 14, we counted"])
    assert not ended(cards)


def test_two_people_tell_each_other_what_is_theirs(talks: Talks) -> None:
    said = ["there are 14 walnut crates in the cellar", "wow, so many"]
    cards = talks(said, ["17 walnut crates instead of 14", "oh"], speakers=("Ana", "Bo"))
    assert not ended(cards)
