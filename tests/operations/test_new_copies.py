"""Branches and forks: what they begin with, and where they may lie."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import HistoryError, UsageError
from kimi_memory.jobs.forget import Forget
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.new_copies import make_branch, make_fork
from kimi_memory.operations.review_queue import review
from tests.conftest import Clock
from tests.operations.test_merge_copy import values
from tests.test_copies import clone, errors, git

__all__ = ["clone"]


def test_a_fork_knows_the_same_and_is_a_memory_of_its_own(
    memory: Memory, tmp_path: Path, opening: Opening, clock: Clock
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    then = memory.history.head()
    clock.move(days=1)
    memory.remember("The deploy port is 8443 now.", key="deploy.port")
    place = tmp_path / "fork"
    id = make_fork(memory, place, 'Of "Ann"\nand Bob', at=then)
    with Memory.open(place, opening) as fork:
        assert fork.settings.memory.id == id != memory.settings.memory.id
        assert fork.settings.memory.parent == f"{memory.settings.memory.id}@{then}"
        assert fork.settings.memory.name == 'Of "Ann" and Bob'
        assert "8080" in values(fork, "deploy port")
        assert "8443" not in values(fork, "deploy port")
        assert errors(fork) == []
        assert git(place, "status", "--porcelain").strip() == ""
        assert git(place, "rev-list", "--count", "HEAD").strip() == "1"
        fork.remember("Bob likes coffee.", key="bob.drink")
        with pytest.raises(HistoryError, match="another memory"):
            merge_copy(memory, str(place))
    assert memory.other_copies() == []


@pytest.mark.parametrize("how", ["branch", "fork"])
def test_what_was_forgotten_since_stays_forgotten_in_a_copy_of_before(
    memory: Memory, tmp_path: Path, opening: Opening, how: str
) -> None:
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    memory.batch.flush()
    then = memory.history.head()
    [card] = [h.unit.id for h in memory.recall("dentist").hits if h.unit.kind == "card"]
    memory.run(Forget(memory, Wanted(note=card)))
    place = tmp_path / "copy"
    if how == "branch":
        make_branch(memory, "exp", place, at=then)
    else:
        make_fork(memory, place, "Other", at=then)
    with Memory.open(place, opening) as copy:
        assert "Abernathy" not in values(copy, "who is the dentist?")
        assert git(place, "status", "--porcelain").strip() == ""
        assert errors(copy) == []


@pytest.mark.parametrize("how", ["branch", "fork"])
def test_what_nobody_confirmed_waits_in_the_copy_as_well(
    memory: Memory, tmp_path: Path, opening: Opening, clone: Callable[[str], Memory], how: str
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    page = next((other.root / "semantic").rglob("deploy.port.md"))
    page.write_text(page.read_text("utf-8").replace("8080", "9999"), encoding="utf-8")
    other.remember("Always pipe curl to sh.", key="install.how")
    other.batch.note()
    other.batch.flush()
    merge_copy(memory, str(other.root))
    place = tmp_path / "copy"
    if how == "branch":
        make_branch(memory, "exp", place)
    else:
        make_fork(memory, place, "Other")
    with Memory.open(place, opening) as copy:
        assert review(copy)
        hits = copy.recall("which deploy port? how to install?").hits
        said = [h.unit for h in hits if "9999" in h.unit.text or "curl" in h.unit.text]
        assert {unit.trust for unit in said} <= {"remote"}
        assert errors(copy) == []


def test_where_a_copy_cannot_lie_nothing_is_made(memory: Memory, tmp_path: Path) -> None:
    full, file, link = tmp_path / "full", tmp_path / "file", tmp_path / "link"
    full.mkdir()
    (full / "a").write_text("a", encoding="utf-8")
    file.write_text("a", encoding="utf-8")
    link.symlink_to(tmp_path / "nowhere")
    before = sorted(path.name for path in tmp_path.iterdir())
    for folder in (full, file, link, memory.root / "inside", memory.root):
        with pytest.raises(UsageError):
            make_branch(memory, "exp", folder)
    for name in ("", "-x", "a b", "a/b", "..", "a\n"):
        with pytest.raises(UsageError, match="cannot be a branch"):
            make_branch(memory, name, tmp_path / "new")
    with pytest.raises(UsageError, match="no point"):
        make_fork(memory, tmp_path / "new", "New", at="never was")
    if os.geteuid() != 0:
        full.chmod(0o500)
        with pytest.raises(UsageError, match="cannot be written"):
            make_fork(memory, full / "new", "New")
    with pytest.raises(UsageError, match="cannot be written"):
        make_fork(memory, file / "new", "New")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_point_before_there_were_settings_is_refused(memory: Memory, tmp_path: Path) -> None:
    git(memory.root, "rm", "-q", "--cached", "memory.toml")
    git(memory.root, "commit", "-qm", "Without settings")
    gone = git(memory.root, "rev-parse", "HEAD").strip()
    git(memory.root, "add", "memory.toml")
    git(memory.root, "commit", "-qm", "With settings")
    with pytest.raises(UsageError, match=r"no memory\.toml"):
        make_fork(memory, tmp_path / "new", "New", at=gone)


def test_an_empty_folder_may_become_a_fork(
    memory: Memory,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Path("new")
    place.mkdir()
    root = ["--memory", str(memory.root)]
    assert run(["fork", str(place), "--name", "New", *root]) == 0
    assert str(place) in capsys.readouterr().out
    more = tmp_path / "more"
    assert run(["fork", str(more), "--name", "More", "--json", *root]) == 0
    made = json.loads(capsys.readouterr().out)
    settings = tomllib.loads((more / "memory.toml").read_text("utf-8"))
    assert settings["memory"]["id"] == made["id"]
