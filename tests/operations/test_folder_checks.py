"""What lies in the folder that should not is named, and not read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.operations.doctor import doctor, status, verify
from kimi_memory.store.notes import sessions

NAMES = [
    "{stem}.sync-conflict-20260227-101500-ABCDEFG.md",
    "{stem} (Ann's conflicted copy 2026-02-27).md",
    "{stem} (conflicted copy 2026-02-27 101500).md",
    "{stem} (小李 的冲突副本 2026-02-27).md",
    "{stem}_conflict-20260227-101500.md",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_losing_version_is_named_and_not_read(memory: Memory, name: str) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    card = next(h.unit for h in memory.recall("deploy port").hits if h.unit.kind != "turn")
    path = Path(card.path)
    losing = path.with_name(name.format(stem=path.stem))
    text = (memory.root / path).read_text(encoding="utf-8").replace("8080", "9999")
    (memory.root / losing).write_text(text, encoding="utf-8")
    assert {h.unit.path for h in memory.recall("deploy port 9999").hits} & {str(losing)} == set()
    assert memory.get(card.id).path == str(path)
    assert [f.path for f in doctor(memory) if f.check == "folder"] == [str(losing)]
    memory.index.refresh(full=True)
    assert {h.unit.path for h in memory.recall("deploy port 9999").hits} & {str(losing)} == set()


def test_a_losing_session_is_no_session(memory: Memory) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    [place] = sessions.places(memory.store)
    losing = place.path.replace(".jsonl", ".sync-conflict-20260227-101500-ABCDEFG.jsonl")
    (memory.root / losing).write_bytes((memory.root / place.path).read_bytes())
    assert status(memory).open_sessions == 1
    assert list(sessions.places(memory.store)) == [place]
    assert [f.path for f in doctor(memory) if f.check == "folder"] == [losing]


def test_a_note_about_conflicts_is_a_note(memory: Memory) -> None:
    page = memory.root / "git (how a merge conflict ends).md"
    page.write_text("# Marks\n\nA merge leaves marks of porcelain.\n", encoding="utf-8")
    assert {hit.unit.path for hit in memory.recall("porcelain").hits} == {page.name}
    assert [f for f in doctor(memory) if f.check == "folder"] == []


def test_an_id_that_stands_twice_is_named(memory: Memory) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    card = next(h.unit for h in memory.recall("deploy port").hits if h.unit.kind != "turn")
    shutil.copy(memory.root / card.path, memory.root / "semantic/general/zz.md")
    [found] = [f for f in verify(memory) if f.check == "notes"]
    assert found.path == "semantic/general/zz.md"
    assert f"the id of {card.path}" in found.message


def test_two_folders_with_one_memory_are_noticed(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    shutil.copytree(memory.root, tmp_path / "copied")
    assert [f for f in doctor(memory) if f.check == "folder"] == []
    with Memory.open(tmp_path / "copied", opening) as other:
        other.remember("Bob likes coffee.", key="bob.coffee")
        for one, path in ((memory, other.root), (other, memory.root)):
            assert any(str(path) in f.message for f in doctor(one) if f.check == "folder")
