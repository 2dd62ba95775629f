"""Which branch of code a folder is on, read from the files of its repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory.store.files.code_branch import (
    FILE,
    find_working_copy,
    name_working_copy,
    read_code_branch,
)
from kimi_memory.store.git.read import is_plain_name
from tests.test_copies import git


def make_code(folder: Path) -> Path:
    """Make a repository of code with one commit on main."""
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A repository of code."""
    return make_code(tmp_path / "shop")


def follow(root: Path, *repositories: Path) -> None:
    (root / ".kimi").mkdir(parents=True)
    text = json.dumps({str(one / ".git"): "main" for one in repositories})
    (root / FILE).write_text(text, encoding="utf-8")


def test_the_branch_is_read_in_any_folder_and_work_tree(code: Path, tmp_path: Path) -> None:
    (code / "src").mkdir()
    assert read_code_branch(str(code / "src")) == (str(code / ".git"), "main")
    git(code, "worktree", "add", "-q", "-b", "fix/a", str(tmp_path / "tree"))
    assert read_code_branch(str(tmp_path / "tree")) == (str(code / ".git"), "fix/a")
    git(code, "checkout", "-q", "--detach")
    assert read_code_branch(str(code)) == (str(code / ".git"), "")
    (code / ".git/HEAD").unlink()
    assert read_code_branch(str(code)) == read_code_branch(str(tmp_path)) == ("", "")


def test_only_branches_of_a_followed_repository_have_a_working_copy(
    code: Path, tmp_path: Path
) -> None:
    root = tmp_path / "memory"
    assert find_working_copy(str(root), str(code)) == ("", str(root))
    follow(root, code)
    assert find_working_copy(str(root), str(code)) == ("", str(root))
    git(code, "checkout", "-q", "-b", "修复/登录")
    name, place = find_working_copy(str(root), str(code))
    assert place == f"{root}-{name}"
    assert name.startswith("shop-修复-登录-")
    (root / FILE).write_text("[1", encoding="utf-8")
    assert find_working_copy(str(root), str(code)) == ("", str(root))


def test_no_two_branches_share_a_working_copy() -> None:
    pairs = [("/a/shop/.git", "fix/a"), ("/a/shop/.git", "fix-a"), ("/b/shop/.git", "fix/a")]
    names = {name_working_copy(*pair) for pair in pairs}
    assert len(names) == 3
    assert all(is_plain_name(name, "-_") for name in names)
