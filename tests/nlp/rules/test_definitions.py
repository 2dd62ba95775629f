"""Names that a person gives to several things, and the sentences that begin with them."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.definitions import definitions_in, is_about


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
