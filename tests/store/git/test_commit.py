"""Commits of what differs: races with a person, and files that vanish."""

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import commit as git_commit
from kimi_memory.store.git.commit import Committer
from kimi_memory.store.git.files import Scan
from tests.store.git.repositories import git, write


def test_a_file_that_vanishes_between_look_and_read_waits(history, root, monkeypatch):
    write(root, "a.md")
    real = git_commit.compare

    def late(*arguments):
        (root / "a.md").unlink(missing_ok=True)
        return real(*arguments)

    seen = Scan({"ghost.md": (1, 1, 1, 1)})
    monkeypatch.setattr("kimi_memory.store.git.tree.scan", lambda root: seen)
    monkeypatch.setattr(git_commit, "compare", late)
    assert history.commit("x") == ""


def test_a_race_with_the_persons_commit_is_run_again(history, root, monkeypatch):
    write(root, "a.md", "ours\n")
    real, raced = Committer._move_branch, []

    def slow(self, *arguments):
        if not raced:
            raced.append(git(root, "commit", "-q", "--allow-empty", "-m", "person"))
        return real(self, *arguments)

    monkeypatch.setattr(Committer, "_move_branch", slow)
    commit = history.commit("ours")
    assert [c.subject for c in history.log(limit=3)] == ["ours", "person", "Start"]
    assert history.changed(commit) == [("A", "a.md")]
    assert git(root, "status", "--porcelain") == ""


def test_a_race_without_end_is_given_up(history, root, monkeypatch):
    write(root, "a.md", "ours\n")
    real = Committer._move_branch

    def slow(self, *arguments):
        git(root, "commit", "-q", "--allow-empty", "-m", "person")
        return real(self, *arguments)

    monkeypatch.setattr(Committer, "_move_branch", slow)
    with pytest.raises(HistoryError, match="keeps committing"):
        history.commit("ours")
