"""A memory whose own folder Syncthing carries: its repository is kept out."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.domain.health import Severity
from kimi_memory.operations.doctor import doctor, fix
from kimi_memory.store.git.syncthing import find_carried


def test_syncthing_is_told_what_it_must_not_carry(memory: Memory) -> None:
    rules = memory.root / ".stignore"
    assert find_carried(memory.root) == []
    (memory.root / ".stfolder").mkdir()
    rules.write_text("(?d)/.kimi\n*.iso\n", encoding="utf-8")
    [found] = [one for one in doctor(memory) if one.severity is Severity.WARNING]
    assert ".git" in found.message
    list(fix(memory, doctor(memory)))
    assert rules.read_text("utf-8") == "/.git\n(?d)/.kimi\n*.iso\n"
    assert find_carried(memory.root) == []
    memory.history.init()
    assert rules.read_text("utf-8").count(".git") == 1


def test_a_link_in_the_place_of_the_rules_is_left_alone(memory: Memory) -> None:
    (memory.root / ".stfolder").mkdir()
    (memory.root / ".stignore").symlink_to("USER.md")
    before = (memory.root / "USER.md").read_bytes() if (memory.root / "USER.md").exists() else b""
    memory.history.init()
    assert find_carried(memory.root) == [".git", ".kimi"]
    after = (memory.root / "USER.md").read_bytes() if (memory.root / "USER.md").exists() else b""
    assert (memory.root / ".stignore").is_symlink() and before == after
