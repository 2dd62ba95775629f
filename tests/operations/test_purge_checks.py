"""A purge that another copy's history takes back is said."""

from __future__ import annotations

from pathlib import Path

from kimi_memory import Memory
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.forget import Doomed, purge
from tests.test_copies import git


def test_a_pull_that_brings_purged_text_back_is_named(memory: Memory, tmp_path: Path) -> None:
    memory.remember("My dentist is Doctor Abernathy.", key="health.dentist")
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "other")
    assert purge(memory, Doomed(("Abernathy",), ()), yes=True).done
    assert [f.message for f in verify(memory) if f.check == "purge"] == []
    broken = memory.root / "mid-term/jobs/purge-000000000000.json"
    broken.write_text("{", encoding="utf-8")
    how = ("pull", "-q", "--no-rebase", "--no-edit", "--allow-unrelated-histories", "-s", "ours")
    git(memory.root, *how, str(tmp_path / "other"), "main")
    [found] = [f for f in verify(memory) if f.check == "purge"]
    assert "a merge brought back what purge-" in found.message
