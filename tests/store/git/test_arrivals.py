"""Arrivals: what pulls, merges and the like brought, told by the movements of HEAD."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.store.git.arrivals import arrivals
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.head import blob_of
from tests.test_copies import git


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones that changed one file differently, and each another one of its own."""
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    git(a, "init", "-q", "--initial-branch=main")
    save(a, "both.md", "base\n")
    git(tmp_path, "clone", "-q", str(a), "b")
    save(b, "both.md", "theirs\n")
    save(b, "their.md", "new\n")
    save(a, "own.md", "mine\n")
    return a, b


def save(root: Path, path: str, text: str) -> None:
    (root / path).write_text(text, encoding="utf-8")
    git(root, "add", path)
    git(root, "commit", "-qm", f"Change {path}")


def found(root: Path, since: float = 0) -> dict[str, set[str]]:
    here = Git(root, root / ".git")
    return {path: set(blobs) for path, blobs in arrivals(here, root / ".git", since).items()}


def fetch(a: Path, b: Path) -> None:
    git(a, "fetch", "-q", str(b), "main:theirs")


def pull(a: Path, b: Path, *how: str, check: bool = True) -> None:
    git(a, "pull", "-q", "--no-edit", *how, str(b), "main", check=check)


def test_a_pull_brings_what_others_committed(pair: tuple[Path, Path]) -> None:
    a, b = pair
    assert found(a) == {}
    pull(a, b, "--no-rebase")
    theirs = {"both.md": {blob_of(b"theirs\n")}, "their.md": {blob_of(b"new\n")}}
    assert found(a) == theirs
    assert found(a, since=4e9) == {}
    save(a, "both.md", "mine now\n")
    assert found(a) == theirs


@pytest.mark.parametrize(
    "bring",
    [
        lambda a, b: pull(a, b, "--rebase"),
        lambda a, b: (fetch(a, b), git(a, "reset", "-q", "--hard", "theirs")),
        lambda a, b: (fetch(a, b), git(a, "cherry-pick", "theirs")),
        lambda a, b: (fetch(a, b), git(a, "checkout", "-q", "theirs")),
    ],
    ids=["rebase", "reset", "cherry-pick", "checkout"],
)
def test_so_do_other_movements(
    pair: tuple[Path, Path], bring: Callable[[Path, Path], object]
) -> None:
    a, b = pair
    bring(a, b)
    assert found(a)["their.md"] == {blob_of(b"new\n")}


def test_a_merge_under_way_brings_it_already_and_what_a_person_settles_is_theirs(
    pair: tuple[Path, Path],
) -> None:
    a, b = pair
    save(a, "both.md", "mine\n")
    pull(a, b, "--no-rebase", check=False)
    assert found(a)["their.md"] == {blob_of(b"new\n")}
    (a / "both.md").write_text("settled\n", encoding="utf-8")
    assert blob_of(b"settled\n") not in found(a)["both.md"]
    git(a, "add", "both.md")
    git(a, "commit", "-qm", "Settled")
    assert found(a) == {"their.md": {blob_of(b"new\n")}}


def test_without_a_log_or_its_commits_nothing_is_told(pair: tuple[Path, Path]) -> None:
    a, b = pair
    pull(a, b, "--no-rebase")
    log = a / ".git" / "logs" / "HEAD"
    text = log.read_text(encoding="utf-8")
    head = git(a, "rev-parse", "HEAD").strip()
    log.write_text(text.replace(head, "1" * 40), encoding="utf-8")
    assert found(a) == {}
    shutil.rmtree(a / ".git" / "logs")
    assert found(a) == {}


def test_a_merge_of_nothing_that_is_there_is_passed_by(pair: tuple[Path, Path]) -> None:
    a, _ = pair
    (a / ".git" / "MERGE_HEAD").write_text("no commit\n", encoding="ascii")
    assert found(a) == {}


def test_where_git_fails_nothing_was_brought(pair: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = pair
    pull(a, b, "--no-rebase")
    assert "their.md" in found(a)
    (tmp_path / "none").mkdir()
    failing = Git(tmp_path / "none", tmp_path / "none" / ".git")
    assert arrivals(failing, a / ".git", 0) == {}
