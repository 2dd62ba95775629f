"""What must not come back: however it is put, and no more than that."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Card, CardType, Quote, Source, Status
from kimi_memory.domain.pages import Proposal
from kimi_memory.domain.tombstone import Tombstone, Tombstones
from kimi_memory.jobs.gates import TombstoneGate, page_scope
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.store.notes.notes import Shelf

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)


def card(value: str, **parts: object) -> Card:
    base = Card(
        id="card-1", created=NOW, updated=NOW, title="", type=CardType.DECISION, key="db.choice",
        value=value,
    )  # fmt: skip
    return replace(base, **parts)


def barred(value: str, key: str = "db.choice", scope: str = "memory") -> TombstoneGate:
    return TombstoneGate(Tombstones([Tombstone(scope, key, normalise(value), NOW, "me")]))


@pytest.mark.parametrize(
    ("value", "again"),
    [
        ("我们用 MongoDB 存菜谱。", "我们还是用ＭｏｎｇｏＤＢ来存菜谱"),
        ("We use MongoDB for recipes.", "For recipes we do use MongoDB!"),
    ],
    ids=["zh", "en"],
)
def test_a_paraphrase_under_the_same_key_is_barred(value: str, again: str) -> None:
    assert barred(value).note(card(again))
    assert not barred(value).note(card(again, key="another.key"))


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("我们用 MongoDB 存菜谱。", "从 MongoDB 换成 PostgreSQL 存菜谱，用它。"),
        ("我们用 MongoDB 存菜谱。", "我们不用 MongoDB 存菜谱。"),
        ("We use MongoDB for recipes.", "We use PostgreSQL for recipes instead of MongoDB."),
        ("We use MongoDB for recipes.", "We moved from MongoDB to MySQL for recipes, use it."),
        ("The port is 8080.", "The port is 8081."),
    ],
)
def test_what_replaces_a_barred_value_is_not_barred(value: str, other: str) -> None:
    assert not barred(value).note(card(other))


def test_a_quote_bars_what_rests_on_it_in_every_project_and_nobody_elses_does() -> None:
    quote = Quote("s", 1, "We use MongoDB for recipes.")
    rests = card("It is the database.", quotes=(quote,), sources=(Source.from_quote(quote),))
    assert barred(quote.text).note(rests)
    assert barred(quote.text, scope="project:p").note(rests)
    assert barred(quote.text, scope="project:p").note(replace(rests, project="p"))
    assert not barred(quote.text, scope="agent:k").note(rests)


@pytest.mark.parametrize(
    ("value", "again"),
    [
        ("I live in Leeds, near the river.", "I moved back to Leeds last month."),
        ("My phone is a Pixel 8.", "My mobile phone is a Pixel 8."),
        ("I work at Northwind.", "My employer is Northwind."),
        ("我住在杭州西湖区。", "我家在杭州西湖区"),
        ("我今年32岁。", "我的年龄是32岁"),
    ],
)
def test_the_value_of_a_forgotten_slot_is_barred_in_other_words_and_projects(
    value: str, again: str
) -> None:
    stones = barred(value, key="user.was", scope="project:p")
    assert stones.note(card(again, key="user.is", project="q"))


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("I live in Leeds, near the river.", "I moved from Leeds to York."),
        ("My phone is a Pixel 8.", "My phone is a Pixel 9."),
        ("My phone is a Pixel 8.", "My sister's phone is a Pixel 8."),
        ("我住在杭州。", "我住在苏州。"),
        ("我住在杭州。", "我姐姐住在杭州。"),
    ],
)
def test_another_value_or_another_persons_is_not_barred(value: str, other: str) -> None:
    assert not barred(value, key="user.was").note(card(other, key="user.is"))


def test_a_value_that_was_replaced_elsewhere_is_not_what_was_forgotten() -> None:
    stones = barred("The region is Dublin.", key="fact.region", scope="project:p")
    moved = card("The region went from Dublin to Frankfurt.", key="fact.region", project="q")
    assert not stones.note(moved)
    assert not stones.note(replace(moved, project="p"))
    assert stones.note(replace(moved, value="Our region is Dublin", project="p"))


def test_a_forgotten_choice_is_barred_in_its_project_and_free_in_others() -> None:
    stones = barred("我们的数据库决定用 MongoDB，因为灵活。", scope="project:p")
    again = card("数据库选 MongoDB 吧。", project="p")
    assert stones.note(again)
    assert not stones.note(replace(again, project="q"))
    assert not stones.note(replace(again, value="数据库选 SQLite 吧。"))
    assert not stones.note(replace(again, value="数据库不选 MongoDB。"))


def test_a_rejected_proposal_is_barred_on_its_page_alone() -> None:
    proposal = Proposal(
        id="proposal-1", created=NOW, updated=NOW, title="", target="long-term/IDENTITY.md",
        section="beliefs", text="周五不要发版。",
    )  # fmt: skip
    scope = page_scope(proposal.target, proposal.section)
    stones = barred("周五不要发版。", f"{proposal.target}#beliefs", scope)
    assert stones.note(proposal)
    assert not stones.note(replace(proposal, section="abilities"))
    assert not stones.note(card("周五不要发版。"))


def test_steps_that_make_barred_notes_are_left_out_and_others_stay(memory: Memory) -> None:
    steps = [
        Step(Op.ADD, card("We use MongoDB.", id="card-a"), "new"),
        Step(Op.ADD, card("We use SQLite.", id="card-b"), "new"),
        Step(Op.REFINE, card("We use MongoDB.", id="card-c", status=Status.ARCHIVED), "old"),
    ]
    kept, left_out = barred("we use mongodb").steps(steps, Shelf(memory.store))
    assert [step.note.id for step in kept] == ["card-b", "card-c"]
    assert left_out == ["card-a: it was forgotten or rejected on purpose"]
    assert TombstoneGate(Tombstones(())).steps(steps, Shelf(memory.store)) == (steps, [])
