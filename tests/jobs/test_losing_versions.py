"""Losing versions that a sync tool left are merged into their files, when a person asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli.shared import say_finding
from kimi_memory.domain.session import Role
from kimi_memory.jobs.losing_versions import find_losing
from kimi_memory.operations.doctor import doctor, fix
from kimi_memory.store.notes import sessions

LOST = ".sync-conflict-20260227-101500-ABCDEFG"


def put(memory: Memory, path: str, text: str) -> None:
    (memory.root / path).parent.mkdir(exist_ok=True)
    (memory.root / path).write_text(text, encoding="utf-8")
    memory.batch.flush("Arrived")


def mend(memory: Memory) -> list[str]:
    """Let the doctor mend what it finds; no losing version is left."""
    lines = list(fix(memory, doctor(memory)))
    assert find_losing(memory.store) == []
    return lines


@pytest.mark.parametrize("winner_came_later", [False, True], ids=["won here", "won elsewhere"])
def test_what_both_changed_stands_in_the_file(memory: Memory, winner_came_later: bool) -> None:
    put(memory, "notes/tea.md", "Green tea.\nBlack tea.\n乌龙茶。\n")
    here, there = "Green tea!\nBlack tea.\n乌龙茶。\n", "Green tea.\nBlack tea.\n红茶。\n"
    put(memory, "notes/tea.md", there if winner_came_later else here)
    # What was written here may have lost: the other version took its place, and it lies beside.
    put(memory, "notes/tea.md", here)
    put(memory, f"notes/tea{LOST}.md", there)
    [found] = [one for one in doctor(memory) if one.check == "copies"]
    assert found.fixable
    [line] = [line for line in mend(memory) if LOST in line]
    assert line.endswith("2 files merged by their values")
    assert memory.store.read("notes/tea.md").decode() == "Green tea!\nBlack tea.\n红茶。\n"
    lost = memory.history.log(path=f"notes/tea{LOST}.md")
    assert [one.subject for one in lost] == ["Repair of losing versions", "Arrived"]


def test_no_turn_and_no_statement_is_lost(memory: Memory, opening: Opening) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    session = memory.session("s")
    session.turn(Role.USER, "Ann likes tea.")
    memory.batch.flush()
    [card] = [h.unit.path for h in memory.recall("deploy port").hits if h.unit.kind == "card"]
    talk = sessions.find(memory.store, "s").path
    before = memory.store.read(talk)
    session.turn(Role.USER, "Bob likes coffee.")
    memory.batch.flush()
    other = Path(memory.root).parent / "other"
    with Memory.create(other, opening=opening) as copy:
        (other / talk).parent.mkdir(exist_ok=True)
        (other / talk).write_bytes(before)
        copy.session("s").turn(Role.USER, "Cleo likes water.")
        put(memory, talk.replace(".jsonl", f"{LOST}.jsonl"), (other / talk).read_text("utf-8"))
    text = memory.store.read(card).decode()
    put(memory, card.replace(".md", f"{LOST}.md"), text.replace("8080", "9999"))
    mend(memory)
    said = b"".join(memory.store.read(one.path) for one in sessions.places(memory.store))
    assert [said.count(name) for name in (b"Ann likes", b"Bob likes", b"Cleo likes")] == [1, 1, 1]
    cards = b"".join(memory.store.read(one) for one in memory.store.files("semantic"))
    assert b"8080" in cards and b"9999" in cards
    hits = [hit.unit for hit in memory.recall("deploy port 9999").hits if "9999" in hit.unit.text]
    assert {unit.status for unit in hits} <= {"candidate"}, "what came from elsewhere waits"


def test_a_losing_version_of_a_file_that_is_gone_is_left_to_a_person(memory: Memory) -> None:
    put(memory, f"notes/tea{LOST}.md", "Green tea.\n")
    [found] = [one for one in doctor(memory) if one.check == "copies"]
    assert not found.fixable and "delete this one" in found.remedy
    list(fix(memory, doctor(memory)))
    assert memory.store.exists(f"notes/tea{LOST}.md")


@pytest.mark.parametrize(
    ("here", "there", "both"),
    [
        ("", "- a dog called Rex\n", "- a dog called Rex\n"),
        ("- 养了一只猫\n", "", "- 养了一只猫\n"),
    ],
    ids=["there", "here"],
)
def test_what_one_version_only_adds_stays(memory: Memory, here: str, there: str, both: str) -> None:
    page = memory.store.read("USER.md").decode()
    put(memory, "USER.md", page + here)
    put(memory, f"USER{LOST}.md", page + there)
    mend(memory)
    assert memory.store.read("USER.md").decode() == page + both
    assert not memory.store.files("conflicts")


def test_what_both_add_at_other_places_stays_without_an_earlier_version(memory: Memory) -> None:
    put(memory, f"notes/tea{LOST}.md", "Green tea.\nBlack tea.\n乌龙茶。\n")
    put(memory, "notes/tea.md", "# Tea\nGreen tea.\nBlack tea.\n")
    mend(memory)
    merged = memory.store.read("notes/tea.md").decode()
    assert merged == "# Tea\nGreen tea.\nBlack tea.\n乌龙茶。\n"


def test_a_version_that_waits_is_named_by_who_mends_and_until_it_is_gone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(memory, "notes/tea.md", "Green tea!\n")
    put(memory, f"notes/tea{LOST}.md", "Green tea?\n")
    [line] = [line for line in mend(memory) if LOST in line]
    [kept] = memory.store.files("conflicts")
    assert line.endswith(f"one version stays, the other waits in {kept}")
    texts = {memory.store.read(path).decode() for path in ("notes/tea.md", kept)}
    assert texts == {"Green tea!\n", "Green tea?\n"}
    [found] = [one for one in doctor(memory) if one.check == "copies"]
    assert found.path == kept and not found.fixable
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert say_finding(line).endswith(f"另一个版本在 {kept} 里等您处理")
    (memory.root / kept).unlink()
    assert not [one for one in doctor(memory) if one.check == "copies"]
