"""A memory that follows branches of code, and takes back what was learned on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.code_branches import (
    fold_code,
    follow_code,
    lay_working_copy,
    list_code_copies,
    unfollow_code,
)
from tests.operations.test_merge_copy import values
from tests.store.files.test_code_branch import make_code
from tests.test_copies import git


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A repository of code."""
    return make_code(tmp_path / "shop")


def work(code: Path, branch: str) -> None:
    """Commit something on a branch of code."""
    git(code, "checkout", "-q", *(() if branch in git(code, "branch") else ("-b",)), branch)
    git(code, "commit", "-q", "--allow-empty", "-m", branch)


def learn(memory: Memory, code: Path, opening: Opening, text: str) -> Path:
    """Remember something where the code is; return the working copy."""
    place = lay_working_copy(memory, code)
    with Memory.open(place, opening) as copy:
        copy.remember(text)
    return place


def test_what_a_branch_taught_comes_back_when_it_landed(
    memory: Memory,
    code: Path,
    opening: Opening,
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    assert follow_code(memory, code) == (str(code / ".git"), "main")
    assert lay_working_copy(memory, code) == memory.root
    git(code, "checkout", "-q", "-b", "login")
    place = learn(memory, code, opening, "The login page uses passkeys.")
    assert place != memory.root
    assert "passkeys" not in values(memory, "login")
    [copy] = list_code_copies(memory)
    assert (copy.branch, copy.landed, copy.folder) == ("login", False, place)
    work(code, "login")
    assert fold_code(memory) == []
    # A merge that is no more than a step forward counts as well.
    git(code, "checkout", "-q", "main")
    git(code, "merge", "-q", "--ff-only", "login")
    [dry] = fold_code(memory)
    assert (dry.removed, bool(dry.merged.paths), place.exists()) == (False, True, True)
    assert "passkeys" not in values(memory, "login")
    [done] = fold_code(memory, yes=True)
    assert (done.removed, place.exists()) == (True, False)
    assert "passkeys" in values(memory, "login")
    assert list_code_copies(memory) == []


def test_a_branch_that_was_thrown_away_is_folded_only_by_name(
    memory: Memory,
    code: Path,
    opening: Opening,
) -> None:
    follow_code(memory, code)
    work(code, "trial")
    place = learn(memory, code, opening, "The trial uses Redis.")
    git(code, "checkout", "-q", "main")
    git(code, "branch", "-qD", "trial")
    [copy] = list_code_copies(memory)
    assert (copy.branch, copy.landed) == ("", False)
    assert fold_code(memory, yes=True) == []
    with pytest.raises(NotFoundError, match="branch"):
        fold_code(memory, ["other"])
    [done] = fold_code(memory, [copy.name], yes=True)
    assert done.removed
    assert not place.exists()


def test_a_repository_is_followed_as_long_as_wanted(memory: Memory, code: Path) -> None:
    with pytest.raises(UsageError, match="not followed"):
        unfollow_code(memory, code)
    with pytest.raises(UsageError, match="no branch 'trunk'"):
        follow_code(memory, code, "trunk")
    for folder in (code.parent, memory.root):
        with pytest.raises(UsageError, match="no repository of code"):
            follow_code(memory, folder)
    follow_code(memory, code)
    work(code, "trial")
    assert unfollow_code(memory, code) == str(code / ".git")
    assert lay_working_copy(memory, code) == memory.root


def test_commands_use_the_working_copy(
    memory: Memory, code: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(memory.root)
    memory.close()
    monkeypatch.chdir(code)
    assert run(["branch", "follow", ".", "--memory", root]) == 0
    git(code, "checkout", "-q", "-b", "login")
    assert run(["remember", "The login uses passkeys.", "--key", "login", "--memory", root]) == 0
    assert "the working copy for this branch" in capsys.readouterr().err
    assert run(["recall", "passkeys", "--memory", root]) == 0
    assert "passkeys" in capsys.readouterr().out
    git(code, "checkout", "-q", "main")
    assert run(["recall", "passkeys", "--memory", root]) == 0
    assert "passkeys" not in capsys.readouterr().out
    assert run(["branch", "fold", "--memory", root]) == 0
    assert "has not landed" in capsys.readouterr().out
