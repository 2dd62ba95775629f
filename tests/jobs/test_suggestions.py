"""Suggested links: what the weekly job leaves waits in review, and is answered once."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.graph import REJECTED
from kimi_memory.domain.note import Card, Link, LinkRel
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.resolve_conflict import conflicts
from kimi_memory.operations.introspect import introspect
from kimi_memory.operations.open_questions import asking
from kimi_memory.operations.review_queue import Answer, answer, review
from tests.jobs.notes import card, put
from tests.jobs.test_runner import tree

TEXTS = {
    "en": (
        "The office of the north has eleven desks",
        "The office of the north has ten old chairs",
    ),
    "zh": ("北方分部的办公室有十一张桌子", "北方分部的办公室有十把旧椅子"),
}


def get(memory: Memory, id: str) -> Card:
    note = memory.get(id).note
    assert isinstance(note, Card)
    return note


def suggest(memory: Memory, lang: str, weight: float, rel: LinkRel = LinkRel.SIMILAR_TO) -> None:
    one, two = TEXTS[lang]
    link = Link("card-b", rel, weight, f"suggested: {weight:.2f} alike")
    put(memory, card("a", one, links=(link,)), card("b", two))
    # Pages follow the notes, also those that were put there by hand.
    memory.jobs.refresh_pages(memory.actor, ())


@pytest.mark.parametrize("lang", TEXTS)
def test_a_weak_one_waits_and_is_confirmed(memory: Memory, lang: str) -> None:
    suggest(memory, lang, 0.75)
    [waits] = review(memory)
    assert asking(memory) == {"review": 1}
    assert TEXTS[lang][1] in waits.text
    assert waits.reason == "0.75 alike"
    assert "SIMILAR_TO" in waits.diff
    before = tree(memory.root)
    report = answer(memory, waits.id, Answer(accept=True))
    assert get(memory, "card-a").links == (Link("card-b", LinkRel.SIMILAR_TO, 0.75, "0.75 alike"),)
    assert not review(memory)
    memory.undo(report.id)
    assert tree(memory.root) == before
    assert [one.id for one in review(memory)] == [waits.id]


@pytest.mark.parametrize("lang", TEXTS)
def test_a_rejected_one_does_not_come_back(memory: Memory, lang: str) -> None:
    suggest(memory, lang, 0.75)
    [waits] = review(memory)
    answer(memory, waits.id, Answer(accept=False))
    assert get(memory, "card-a").links == (Link("card-b", LinkRel.SIMILAR_TO, 0.0, REJECTED),)
    introspect(memory)
    assert not review(memory)
    with pytest.raises(NotFoundError, match="suggested link"):
        answer(memory, waits.id, Answer(accept=True))


def test_a_strong_one_is_left_to_the_weekly_job(memory: Memory) -> None:
    suggest(memory, "en", 0.9)
    assert not review(memory)


@pytest.mark.parametrize("lang", TEXTS)
def test_a_contradiction_that_a_person_confirms_is_a_conflict(memory: Memory, lang: str) -> None:
    suggest(memory, lang, 0.97, LinkRel.CONTRADICTS)
    [waits] = review(memory)
    answer(memory, waits.id, Answer(accept=True, text="desks are no chairs"))
    [found] = conflicts(memory)
    assert {side.id for side in found.sides} == {"card-a", "card-b"}
    assert get(memory, "card-a").links[0].reason == "desks are no chairs"


def test_a_link_to_what_is_gone_does_not_wait(memory: Memory) -> None:
    link = Link("card-gone", LinkRel.SIMILAR_TO, 0.75, "suggested: 0.75 alike")
    put(memory, card("a", TEXTS["en"][0], links=(link,)))
    assert not review(memory)


def test_one_that_stands_far_down_a_long_head_waits_as_well(memory: Memory) -> None:
    many = tuple(
        Link(f"card-{n:026d}", LinkRel.RELATES_TO, 0.9, f"both were said in the same hour {n}")
        for n in range(120)
    )
    last = Link("card-b", LinkRel.SIMILAR_TO, 0.75, "suggested: 0.75 alike")
    put(memory, card("a", TEXTS["en"][0], links=(*many, last)), card("b", TEXTS["en"][1]))
    assert [waits.reason for waits in review(memory)] == ["0.75 alike"]
