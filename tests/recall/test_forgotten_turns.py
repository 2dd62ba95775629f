"""Forgotten turns: not recalled, not put into a context, unless they are asked for."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.search_types import Query
from kimi_memory.operations.forget import Wanted, forget

DENTIST = "My dentist is Doctor Abernathy in Oslo."
FERRY = "The ferry leaves at nine."


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A memory of two ended sessions and an open one."""
    with memory.session("a") as session:
        session.turn("user", "请记住：我的牙医是林医生，诊所在奥斯陆。")
        session.turn("assistant", "好的，牙医是林医生。")
    with memory.session("b") as session:
        session.turn("user", FERRY)
        session.turn("assistant", "Nine it is.")
    memory.session("c").turn("user", "The ferry of the dentist 牙医 is late.")
    return memory


def turns(memory: Memory, text: str, **filters: object) -> set[str]:
    hits = memory.recall(Query(text=text, kind=("turn",), **filters)).hits
    return {hit.unit.id for hit in hits}


def test_turns_of_a_forgotten_session_are_not_recalled(told: Memory) -> None:
    assert {"session:a#1", "session:a#2"} <= turns(told, "牙医")
    told.index.refresh()
    report = forget(told, Wanted(session="a"))
    for _ in "before", "after":
        assert turns(told, "牙医") == {"session:c#1"}
        assert turns(told, "牙医", status=("active",)) == {"session:c#1"}
        assert turns(told, "牙医", status=("archived",)) >= {"session:a#1", "session:a#2"}
        assert turns(told, "牙医", status=("archived", "active")) >= {"session:a#1", "session:c#1"}
        assert "林医生" not in told.context("live", "牙医").text
        told.index.refresh()
    told.undo(report.id)
    assert {"session:a#1", "session:a#2"} <= turns(told, "牙医")


def test_an_open_session_that_was_forgotten_is_not_repeated(told: Memory) -> None:
    assert "dentist" in told.context("live", "x").text
    forget(told, Wanted(session="c"))
    assert "dentist" not in told.context("live", "ferry", session="c").text


@pytest.mark.parametrize("hashed", [False, True], ids=["plain", "hashed"])
def test_the_turn_that_a_forgotten_note_rests_on_is_not_recalled(
    memory: Memory, *, hashed: bool
) -> None:
    memory.remember(DENTIST, key="health.dentist")
    memory.remember(FERRY, key="ferry.time")
    assert len(turns(memory, "dentist ferry")) == 2
    forget(memory, Wanted(key="health.dentist", hashed=hashed))
    assert "session:remembered-20260227#1" not in turns(memory, "dentist Abernathy")
    assert len(turns(memory, "dentist ferry")) == 1
    assert len(turns(memory, "dentist", status=("archived",))) == 1


def test_a_tombstone_that_cannot_be_read_hides_nothing_else(told: Memory) -> None:
    forget(told, Wanted(session="a"))
    with (told.root / "mid-term/tombstones.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    assert turns(told, "牙医") == {"session:c#1"}
