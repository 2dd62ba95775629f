"""Copies that lack older versions, contents or a branch: nothing is merged by a guess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.errors import HistoryError
from kimi_memory.operations.bundles import export_bundle
from kimi_memory.operations.doctor import doctor
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import sync_memory
from kimi_memory.operations.verify_history import verify_history
from tests.test_copies import errors, git


@pytest.fixture
def hub(memory: Memory, tmp_path: Path) -> Path:
    """A bare repository with several versions of the memory."""
    for name in ("tea", "coffee", "water"):
        memory.remember(f"Ann likes {name}.", key=f"ann.{name}")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    git(tmp_path / "hub.git", "config", "uploadpack.allowFilter", "true")
    git(memory.root, "push", "-q", str(tmp_path / "hub.git"), "main")
    return tmp_path / "hub.git"


@pytest.fixture
def shallow(hub: Path, tmp_path: Path, opening: Opening) -> Iterator[Memory]:
    """A clone without the older versions."""
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{hub}", "short")
    home = Home(tmp_path / "config-short", tmp_path / "state-short")
    with Memory.open(tmp_path / "short", replace(opening, home=home)) as found:
        yield found


def test_a_shallow_clone_is_read_and_written_but_not_merged(
    memory: Memory, shallow: Memory, hub: Path, tmp_path: Path
) -> None:
    shallow.remember("Bob likes juice.", key="bob.drink")
    assert "juice" in shallow.recall("what does Bob like?").hits[0].unit.text
    for joined in (
        lambda: merge_copy(shallow, str(memory.root)),
        lambda: export_bundle(shallow, tmp_path / "short.bundle"),
        lambda: add_remote(shallow, "hub", f"file://{hub}"),
        # A merge whose base is not here would be made again with another result.
        lambda: verify_history(shallow),
    ):
        with pytest.raises(HistoryError, match=r"shallow clone.*git fetch --unshallow"):
            joined()
    assert not (tmp_path / "short.bundle").exists()
    assert any("shallow clone" in finding.message for finding in doctor(shallow))
    git(shallow.root, "fetch", "-q", "--unshallow")
    add_remote(shallow, "hub", f"file://{hub}")
    [report] = sync_memory(shallow)
    assert report.sent, report
    assert not any("shallow clone" in finding.message for finding in doctor(shallow))
    assert merge_copy(memory, str(shallow.root)).paths
    assert errors(memory) == errors(shallow) == []


def test_a_partial_clone_is_read_and_says_what_it_lacks(
    hub: Path, tmp_path: Path, opening: Opening, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{hub}", "part")
    with Memory.open(tmp_path / "part", opening) as part:
        assert part.recall("what does Ann like?").hits
        with pytest.raises(HistoryError):
            merge_copy(part, str(hub))
    assert run(["init", str(tmp_path / "part")]) == HistoryError.exit_code
    said = capsys.readouterr().err
    assert "is a partial clone" in said
    assert "git clone" in said


def test_what_was_written_on_no_branch_comes_back_as_the_message_says(
    memory: Memory, hub: Path
) -> None:
    git(memory.root, "checkout", "-q", "HEAD~2")
    assert memory.recall("what does Ann like?").hits
    memory.remember("Bob likes juice.", key="bob.drink")
    for joined in (lambda: merge_copy(memory, "main"), memory.history.merger):
        with pytest.raises(HistoryError, match=r"no branch.*git switch -'.*git switch -c NAME'"):
            joined()
    # A page differs here and there, so git would not go back.
    git(memory.root, "switch", "-q", "-", check=False)
    assert git(memory.root, "branch", "--show-current") == ""
    git(memory.root, "switch", "-q", "-c", "aside")
    memory.repair_merges()
    memory.batch.flush()
    git(memory.root, "switch", "-q", "main")
    merge_copy(memory, "aside")
    assert {card.unit.text for card in memory.recall("Bob likes juice").hits}
    assert errors(memory) == []
    assert git(memory.root, "status", "--porcelain").strip() == ""


def test_without_git_a_memory_is_used_and_what_needs_it_says_so(
    memory: Memory, opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.batch.flush()
    copied = memory.root / "semantic/general"
    [page] = copied.glob("ann.tea.md")
    other = page.with_name("ann.tea.sync-conflict-20260227-101500-ABCDEFG.md")
    other.write_text(page.read_text("utf-8").replace("tea", "rum"), encoding="utf-8")
    memory.close()
    monkeypatch.setenv("PATH", str(tmp_path))
    with Memory.open(memory.root, opening) as alone:
        said = {hit.unit.text for hit in alone.recall("what does Ann like?").hits}
        assert "Ann likes tea." in said
        assert "Ann likes rum." not in said
        assert "sync tool" in "".join(one.message for one in doctor(alone))
        report = alone.remember("Bob likes coffee.", key="bob.drink")
        assert report.id
        assert "Install git" in "".join(report.left_out)
        for ask in (lambda: merge_copy(alone, "other"), lambda: alone.at("HEAD")):
            with pytest.raises(HistoryError, match="Install git"):
                ask()
