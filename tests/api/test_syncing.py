"""Merging, forking and rolling back as methods of a memory."""

from __future__ import annotations

from pathlib import Path

from kimi_memory import Memory, Opening
from tests.test_copies import git


def test_a_memory_merges_rolls_back_and_is_forked(
    memory: Memory, opening: Opening, tmp_path: Path
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    before = memory.history.head()
    git(tmp_path, "clone", "-q", str(memory.root), "laptop")
    with Memory.open(tmp_path / "laptop", opening) as laptop:
        laptop.remember("Ann likes tea.", key="ann.tea")
    tried = memory.merge(str(tmp_path / "laptop"), dry_run=True)
    assert not tried.commit
    done = memory.merge(str(tmp_path / "laptop"))
    assert done.commit and done.paths == tried.paths
    id = memory.fork(tmp_path / "own", "Own", at=before)
    with Memory.open(tmp_path / "own", opening) as own:
        assert own.settings.memory.id == id != memory.settings.memory.id
        assert not own.recall("what does Ann like?").hits
    memory.remember("The deploy port is 9999 now.", key="deploy.port")
    back = memory.rollback(before, "deploy.port")
    assert back.job and [one.key for one in back.beliefs] == ["deploy.port"] * len(back.beliefs)
    cards = [hit.unit for hit in memory.recall("8080").hits if hit.unit.kind == "card"]
    assert {(unit.text, unit.status) for unit in cards} == {("The deploy port is 8080.", "active")}
