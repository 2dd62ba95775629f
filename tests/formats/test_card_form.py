"""The text form of cards, and their heads: what a job knows of every card without its file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kimi_memory.domain.note import Card
from kimi_memory.formats.card_form import Cards, Head
from tests.jobs.notes import card, days_ago


@pytest.mark.parametrize("value", ["The port is 8080.", "端口是 8080。"])
@pytest.mark.parametrize("more", [{}, {"verified": None, "expires": days_ago(-2)}])
def test_a_head_survives_its_json_form(value: str, more: dict) -> None:
    head = Head.of(replace(card("a", value), **more))
    assert Head.read(json.loads(json.dumps(head, default=lambda at: at.isoformat()))) == head
    assert Head.of(head) is head


def test_only_the_wanted_cards_are_read() -> None:
    known = {one.id: one for one in (card("a", "one"), card("b", "two"), card("c", "three"))}
    read: list[str] = []

    def load(head: Head) -> Card:
        read.append(head.id)
        return known[head.id]

    cards = Cards([Head.of(one) for one in known.values()], load)
    assert len(cards) == 3
    assert cards.where(lambda head: head.key == "k.b") == [known["card-b"]]
    assert read == ["card-b"]
    assert cards[0] == known["card-a"]
    assert list(cards[1:]) == [known["card-b"], known["card-c"]]
    assert list(cards) == list(known.values())
    assert known["card-c"] in cards


def test_cards_that_were_read_already_are_taken_as_they_are() -> None:
    mine = card("a", "one")
    cards = Cards.of((mine,))
    assert Cards.of(cards) is cards
    assert cards.where(lambda head: True) == [mine]
