"""Names that a person gives to several things, and the sentences that begin with them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Quote, Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.nlp.rules.definitions import definitions_in, is_about, with_definitions

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "name", "body"),
    [
        (
            "Phase 2: the roof, the door and the stairs",
            "phase 2",
            "the roof, the door and the stairs",
        ),
        ("ok so the small order: rye, spelt, oats. all organic", "small order", "rye, spelt, oats"),
        ("Our core team: Ana, Bo, Chen", "core team", "Ana, Bo, Chen"),
        ("first trip: Graz, Linz; then home", "first trip", "Graz, Linz; then home"),
        ("第一批：客厅、主卧、厨房", "第一批", "客厅、主卧、厨房"),
        ("那试吃组：阿杰、小周、老何。都有空", "试吃组", "阿杰、小周、老何"),
    ],
)
def test_a_name_stands_for_several_things(text: str, name: str, body: str) -> None:
    (one,) = definitions_in(text)
    assert (one.name, one.body) == (name, body)
    assert one.said in text


@pytest.mark.parametrize(
    "text",
    [
        "ps: milk, eggs, bread",
        "note: a, b, c",
        "todo: call Ana, book the van, pay Bo",
        "注：盐、糖、油",
        "he said: well, well, well, well we will see. nothing else, really",
        "Phase 2: the roof",
        "at 9:30, 10:15, 11:00 we meet",
        "the address of it all that we talked about yesterday: x, y, z",
    ],
)
def test_a_label_or_a_single_thing_defines_nothing(text: str) -> None:
    assert not list(definitions_in(text))


def test_a_sentence_is_about_the_name_that_it_begins_with() -> None:
    (one,) = definitions_in("phase 2: the roof, the door")
    assert is_about("and phase 2 must be done by 3 May", one)
    assert not is_about("phase 21 must be done by 3 May", one)
    assert not is_about("before phase 2 we rest", one)
    assert not is_about("phase 2: the roof, the door by 3 May", one)
    (first,) = definitions_in("第一批：客厅、主卧")
    assert is_about("第一批要在三月五号前装完", first)


def _draft(n: int, value: str) -> Draft:
    return Draft(
        type=CardType.FACT,
        key="user.dates.x",
        title=value,
        value=value,
        quotes=(Quote("s1", n, value),),
        at=NOON,
        lang=Lang.EN,
    )


def test_a_plan_is_kept_with_what_its_name_stands_for() -> None:
    spoken = (
        "phase 2: the roof, the door",
        "phase 2 must be done by 3 May",
        "phase 2: the cellar, the wall",
    )
    turns = tuple(Turn(n, NOON, Role.USER, text) for n, text in enumerate(spoken, 1))
    transcript = Transcript(Session("s1", NOON), turns)
    (one,) = with_definitions([_draft(2, spoken[1])], transcript)
    assert one.value == "phase 2 must be done by 3 May (the roof, the door)"
    assert [(quote.n, quote.text) for quote in one.quotes] == [(1, spoken[0]), (2, spoken[1])]
    (other,) = with_definitions([_draft(2, "the fair is on 3 May")], transcript)
    assert other.value == "the fair is on 3 May"
    assert with_definitions([one], transcript) == [one]
