"""Notes that rest on turns; replaced values behind current ones, in front where asked for."""

from __future__ import annotations

from datetime import timedelta

import pytest
from folders import NOW, Folder

from kimi_memory import Memory
from kimi_memory.domain.note import CardType, EventType, Quote, Source, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Event
from kimi_memory.domain.search_types import Hit, Query
from kimi_memory.formats.codec import render
from kimi_memory.operations.forget import forget
from kimi_memory.recall.evidence import (
    AHEAD,
    BEHIND,
    find_outcome,
    quoting,
    rests_on,
    successor,
)
from kimi_memory.store.notes import sessions

OLD = "We take MongoDB as the database of the shop."
NEW = "The database of the shop is SQLite from today."


@pytest.fixture
def changed(folder: Folder) -> Folder:
    """A database that was decided, and replaced a week later."""
    folder.session("first", [("user", OLD), ("assistant", "Fine.")], at=NOW - timedelta(days=7))
    folder.session("later", [("user", NEW), ("assistant", "Fine.")])
    old, new = Quote("first", 1, OLD), Quote("later", 1, NEW)
    common = {"type": CardType.DECISION, "key": "shop.database"}
    folder.card(
        *("mongo", "Database MongoDB", "The database is MongoDB."),
        **{
            **common,
            "status": Status.SUPERSEDED,
            "quotes": (old,),
            "sources": (Source.from_quote(old),),
        },
    )
    folder.card(
        *("sqlite", "Database SQLite", "The database is SQLite."),
        **{**common, "quotes": (new,), "sources": (Source.from_quote(new),)},
    )
    event = Event(
        id="event-mongo",
        title="Database of the shop: MongoDB",
        type=EventType.DECISION,
        at=NOW - timedelta(days=7),
        content=OLD,
        created=NOW - timedelta(days=7),
        updated=NOW - timedelta(days=7),
        quotes=(old,),
        sources=(Source.from_quote(old),),
    )
    folder.write("episodic/20260220_mongo.md", render(event))
    return folder


def test_what_holds_stands_before_what_it_replaced(changed: Folder) -> None:
    hits = changed.ask("What is the database of the shop?").hits
    order = [hit.unit.id for hit in hits]
    current = min(order.index("card-sqlite"), order.index("session:later#1"))
    assert current < order.index("session:first#1")
    assert current < order.index("event-mongo")
    assert "card-mongo" not in order
    factors = {hit.unit.id: hit.parts.get("replaced") for hit in hits}
    assert {id for id, factor in factors.items() if factor == BEHIND} == {
        "session:first#1",
        "event-mongo",
    }
    assert {id for id, factor in factors.items() if factor == AHEAD} == {"card-sqlite"}


@pytest.mark.parametrize(
    "question", ["What was the database of the shop before?", "shop 原来的 database 是什么"]
)
def test_a_question_about_the_previous_value_sees_what_was_replaced(
    changed: Folder, question: str
) -> None:
    hits = changed.ask(question).hits
    assert "card-mongo" in [hit.unit.id for hit in hits[:3]]
    assert not [hit for hit in hits if "replaced" in hit.parts]


def test_a_turn_that_a_current_card_rests_on_keeps_its_place(changed: Folder) -> None:
    both = Quote("first", 1, OLD)
    changed.card(
        *("why", "Why a database", "The shop takes a database."),
        **{"key": "shop.database", "quotes": (both,), "sources": (Source.from_quote(both),)},
    )
    hits = changed.ask("What is the database of the shop?").hits
    assert not [hit for hit in hits if hit.parts.get("replaced") == BEHIND]


def test_a_memory_without_replaced_cards_reads_no_notes(folder: Folder) -> None:
    folder.session("first", [("user", OLD)])
    assert not [hit for hit in folder.ask("database").hits if "replaced" in hit.parts]
    assert folder.ask("what was the database before?").hits


@pytest.mark.parametrize("slug", ["a-mysql", "z-mysql"])
def test_the_newest_card_of_a_key_holds_instead(changed: Folder, slug: str) -> None:
    days = timedelta(days=3)
    changed.card(
        *(slug, "Database MySQL", "The database is MySQL."),
        **{"key": "shop.database", "created": NOW - days, "updated": NOW - days},
    )
    searcher = changed.index().searcher()
    for id in ("card-mongo", "session:first#1"):
        assert "SQLite" in str(successor(searcher, id))
    assert successor(searcher, "card-sqlite") is None


def test_the_first_card_of_all_may_hold_instead(folder: Folder) -> None:
    folder.card("a-new", "Tea", "Ann likes tea.", key="ann.drink")
    folder.card(
        *("b-old", "Milk", "Ann likes milk."), **{"key": "ann.drink", "status": Status.SUPERSEDED}
    )
    folder.card(
        "c-old", "Red", "Ann likes red.", **{"key": "ann.colour", "status": Status.SUPERSEDED}
    )
    searcher = folder.index().searcher()
    assert "tea" in str(successor(searcher, "card-b-old"))
    assert successor(searcher, "card-c-old") == ""


def test_a_note_rests_on_each_turn_of_its_sources(folder: Folder) -> None:
    folder.session("s", [("user", f"Line {n}.") for n in range(4)])
    for slug, source in (("one", Source("s", 2, 2)), ("run", Source("s", 1, 3))):
        folder.card(slug, slug, f"The {slug} holds.", sources=(source,))
    searcher = folder.index().searcher()
    units = {hit.unit.id: hit.unit for hit in folder.ask("holds").hits}
    assert rests_on(searcher, units["card-one"]) == ("session:s#2",)
    assert rests_on(searcher, units["card-run"]) == ("session:s#1", "session:s#2", "session:s#3")


def test_a_session_shows_what_came_of_it_to_those_who_may_see_that(memory: Memory) -> None:
    memory.remember("The ferry leaves at nine.", key="ferry.time")
    with memory.session("other") as talk:
        talk.turn("user", "Nothing to keep.")
    [place] = [one for one in sessions.places(memory.store) if one.id != "other"]
    found, searcher = sessions.read(memory.store, place.path), memory.index.searcher()
    shown = find_outcome(searcher, found.session, found.turns, Query(text=""), memory.now())
    assert [(n, [unit.kind for unit in units]) for n, units in shown.items()] == [(1, ["card"])]
    hidden = Query(text="", project="ships")
    assert not find_outcome(searcher, found.session, found.turns, hidden, memory.now())
    assert not find_outcome(searcher, found.session, (), Query(text=""), memory.now())


def hits(memory: Memory, text: str) -> dict[str, Hit]:
    return {hit.unit.kind: hit for hit in reversed(memory.recall(text).hits)}


def test_a_turn_names_the_card_that_quotes_it(memory: Memory) -> None:
    memory.remember("我们决定用 SQLite 当数据库，因为部署简单。", key="db.choice")
    memory.remember("我们决定周五不部署。", key="deploy.day")
    found = hits(memory, "SQLite 数据库")
    turn, card = found["turn"], found["card"]
    [note] = quoting(memory.index.searcher(), [turn, card])[turn.unit.id]
    assert (note.id, note.rel, note.hops) == (card.unit.id, "QUOTES", 1)
    assert note.title
    forget(memory, Wanted(key="db.choice"))
    assert quoting(memory.index.searcher(), [turn]) == {turn.unit.id: ()}


def test_a_damaged_card_quotes_nothing(memory: Memory) -> None:
    memory.remember("The ferry leaves at nine.", key="ferry.time")
    found = hits(memory, "ferry")
    searcher = memory.index.searcher()
    (memory.root / found["card"].unit.path).write_bytes(b"---\n\xff\n")
    assert quoting(searcher, [found["turn"]]) == {found["turn"].unit.id: ()}


def test_only_turns_are_quoted(memory: Memory) -> None:
    assert quoting(memory.index.searcher(), []) == {}
