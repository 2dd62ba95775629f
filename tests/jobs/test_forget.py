"""Forgetting: archived, undoable, and it does not come back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import Card, Note, Role, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Event
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.forget import forget
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from tests.jobs.test_runner import talk, tree

ZH, EN = "我的编辑器配色一直用 Solarized 暗色。", "My dentist is Doctor Abernathy in Oslo."


def notes(memory: Memory, kind: type[Note]) -> list[Note]:
    return [filed.note for filed in Shelf(memory.store).notes(kind.kind)]


def keep(memory: Memory, text: str, key: str) -> Card:
    report = memory.remember(text, key=key)
    assert report.counts == {"ADD": 1}
    card = memory.get(report.operations[0].target).note
    assert isinstance(card, Card)
    return card


def shown(memory: Memory, words: str) -> list[str]:
    return [hit.unit.id for hit in memory.recall(words, limit=20).hits]


@pytest.mark.parametrize(("text", "key"), [(ZH, "editor.theme"), (EN, "health.dentist")])
@pytest.mark.parametrize("hashed", [False, True], ids=["plain", "hashed"])
def test_a_forgotten_card_is_not_recalled_and_does_not_return(
    memory: Memory, text: str, key: str, hashed: bool
) -> None:
    card = keep(memory, text, key)
    assert card.id in shown(memory, text)
    report = forget(memory, Wanted(note=card.id[:-4], hashed=hashed))
    assert report.counts == {"FORGET": 1}
    assert card.id not in shown(memory, text)
    assert memory.get(card.id).note.status == "archived"
    assert text not in memory.store.read("MEMORY.md").decode()
    stones = memory.store.read(TOMBSTONES).decode()
    assert (next(iter(read_tombstones(memory.store))).value[:6] in stones) and (
        hashed is ("hashed" in stones)
    )
    for again in (memory.remember(text, key=key), memory.remember(text)):
        assert not again.operations
        assert "forgotten on purpose" in again.left_out[0]
    assert [c.status for c in notes(memory, Card)] == ["archived"]


def test_forgetting_survives_a_restart_and_a_lost_index(memory: Memory, opening) -> None:
    import shutil

    card = keep(memory, EN, "health.dentist")
    forget(memory, Wanted(key="health.dentist"))
    memory.index.refresh()
    memory.close()
    shutil.rmtree(memory.root / ".kimi")
    with Memory.open(memory.root, opening) as again:
        assert card.id not in shown(again, "Abernathy dentist")
        assert not again.remember(EN, key="health.dentist").operations


def test_a_forgotten_decision_stays_away_after_daily_weekly_and_a_new_telling(
    memory: Memory,
) -> None:
    talk(memory, "s")
    memory.distil("s")
    memory.consolidate("daily")
    card = next(c for c in notes(memory, Card) if "MongoDB" in c.value)
    forget(memory, Wanted(note=card.id))
    assert "MongoDB" not in memory.store.read("MEMORY.md").decode()
    assert {e.status for e in notes(memory, Event) if "MongoDB" in e.content} <= {"archived"}
    memory.consolidate("daily")
    memory.consolidate("weekly")
    talk(memory, "t")
    again = memory.distil("t")
    assert any("forgotten on purpose" in line for line in again.left_out)
    memory.consolidate("daily")
    live = [c for c in notes(memory, Card) if c.status != "archived"]
    assert live
    assert not [c.value for c in live if "MongoDB" in c.value]
    pages = [p for p in memory.store.files() if p.startswith(("mid-term/projects", "episodic/d"))]
    assert pages
    for path in [*pages, "MEMORY.md"]:
        assert "MongoDB" not in memory.store.read(path).decode(), path


def test_undo_brings_everything_back_byte_for_byte(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    before = tree(memory.root)
    report = forget(memory, Wanted(session="s"))
    assert tree(memory.root) != before
    memory.undo(report.id)
    assert tree(memory.root) == before
    assert forget(memory, Wanted(session="s")).id == report.id


def test_a_session_takes_its_cards_along_and_leaves_those_with_other_evidence(
    memory: Memory, clock
) -> None:
    talk(memory, "s")
    memory.distil("s")
    clock.move(days=1)
    session = memory.session("t", project="菜谱")
    session.turn(Role.USER, "规矩：周五不要发版。")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    both = [c for c in notes(memory, Card) if {s.session for s in c.sources} == {"s", "t"}]
    assert both
    report = forget(memory, Wanted(session="s", why="wrong room"))
    assert report.counts["FORGET"] > 1
    assert report.counts["REFINE"] >= len(both)
    for card in notes(memory, Card):
        stays = card.id in {c.id for c in both}
        assert (card.status == "archived") is not stays
        assert not stays or {q.session for q in card.quotes} == {"t"}
    assert any(stone.scope == "session:s" for stone in read_tombstones(memory.store))
    assert not forget(memory, Wanted(session="s")).id


def test_a_dry_run_writes_no_byte(memory: Memory) -> None:
    card = keep(memory, ZH, "editor.theme")
    before = tree(memory.root)
    report = forget(memory, Wanted(note=card.id), dry_run=True)
    assert "+status: archived" in report.diff
    assert tree(memory.root) == before


def test_a_person_may_forget_more_than_a_job_may_lose(memory: Memory) -> None:
    for n in range(12):
        keep(memory, f"Locker number {n} belongs to person number {n * 7}.", f"locker.n{n}")
    for n in range(12):
        assert forget(memory, Wanted(key=f"locker.n{n}")).id


@pytest.mark.parametrize(
    ("one", "two"),
    [("The cat is Lulu.", "The cat is Momo."), ("店猫是露露。", "店猫是毛毛。")],
    ids=["en", "zh"],
)
def test_a_second_value_of_a_key_stays_forgotten_when_the_first_is_gone(
    memory: Memory, one: str, two: str
) -> None:
    """It had a key of its own, made of its words, and would have the plain one now."""
    keep(memory, one, "pet.cat")
    memory.remember(two, key="pet.cat")
    cards = {card.value: card for card in notes(memory, Card)}
    assert cards[one].key == "pet.cat" != cards[two].key
    for text in (two, one):
        forget(memory, Wanted(note=cards[text].id))
    memory.remember(two, key="pet.cat")
    assert not [card for card in notes(memory, Card) if card.status is not Status.ARCHIVED]


def test_another_value_of_the_key_is_still_welcome(memory: Memory) -> None:
    keep(memory, EN, "health.dentist")
    forget(memory, Wanted(key="health.dentist"))
    fresh: JobReport = memory.remember("My dentist is Doctor Lund now.", key="health.dentist")
    assert fresh.counts == {"ADD": 1}


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (Wanted(), UsageError),
        (Wanted(note="a", key="b"), UsageError),
        (Wanted(note="card-none"), NotFoundError),
        (Wanted(key="no.such"), NotFoundError),
        (Wanted(session="none"), NotFoundError),
    ],
)
def test_what_is_not_there_is_named(memory: Memory, wanted: Wanted, error: type) -> None:
    before = tree(memory.root)
    with pytest.raises(error):
        forget(memory, wanted)
    assert tree(memory.root) == before


def test_a_note_is_forgotten_once(memory: Memory) -> None:
    card = keep(memory, ZH, "editor.theme")
    forget(memory, Wanted(note=card.id))
    with pytest.raises(UsageError, match="archived already"):
        forget(memory, replace(Wanted(note=card.id), why="again"))
