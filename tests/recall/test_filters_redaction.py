"""What recall keeps to itself: words that were forgotten, wherever they stand."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query
from kimi_memory.operations.forget import forget

SAID = {
    "zh": ("我的牙医是奥斯陆的陈医生。", "陈医生", "今天下雨，所以我们坐地铁去。"),
    "en": ("My dentist is Doctor Abernathy in Oslo.", "Abernathy", "It rained in Oslo all day."),
}


@pytest.mark.parametrize("lang", SAID)
def test_a_page_of_ones_own_and_a_long_turn_say_the_rest_only(memory: Memory, lang: str) -> None:
    text, word, other = SAID[lang]
    memory.remember(text, key="health.dentist")
    (memory.root / "USER.md").write_text(f"# 我\n\n{other}\n{text}\n", encoding="utf-8")
    memory.session("s").turn(Role.USER, f"{other} {text}")

    def shown(status: tuple[str, ...] = ()) -> list[str]:
        query = Query(text=f"{text} {other}", limit=20, status=status)
        return [hit.unit.text + hit.snippet for hit in memory.recall(query).hits]

    assert sum(word in one for one in shown()) >= 3
    job = forget(memory, Wanted(key="health.dentist"))
    assert not [one for one in shown() if word in one]
    assert [one for one in shown() if other.rstrip("。.") in one]
    assert [one for one in shown(("archived",)) if word in one]
    memory.undo(job.id)
    assert sum(word in one for one in shown()) >= 3


def test_a_broken_tombstone_does_not_stop_recall(memory: Memory) -> None:
    memory.remember("My dentist is Doctor Abernathy in Oslo.", key="health.dentist")
    stones = memory.root / "mid-term" / "tombstones.jsonl"
    stones.parent.mkdir(exist_ok=True)
    stones.write_text("no tombstone\n", encoding="utf-8")
    assert memory.recall("dentist Oslo").hits


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
