"""How the disk differs from a commit."""

import os

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import commit as git_commit
from kimi_memory.store.git import tree
from tests.store.git.repositories import git, tracked, write


def test_ignore_rules_that_cannot_be_asked_are_an_error(history, root, monkeypatch):
    write(root, "a.md")
    real = git_commit.Git.call

    def call(self, *arguments, **options):
        if arguments[0] == "check-ignore":
            arguments = ("check-ignore", "--no-such-option")
        return real(self, *arguments, **options)

    monkeypatch.setattr(git_commit.Git, "call", call)
    with pytest.raises(HistoryError, match="check-ignore"):
        history.commit("x")


def test_an_interrupt_ends_the_stream(history, root, monkeypatch):
    write(root, "a.md")
    write(root, "b.md")
    real, read = tree.read_plain, set()

    def interrupted(folder, path):
        if read & {"a.md", "b.md"}:
            raise KeyboardInterrupt
        read.add(path)
        return real(folder, path)

    monkeypatch.setattr(tree, "read_plain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        history.commit("x")
    monkeypatch.undo()
    assert history.commit("y")
    assert {"a.md", "b.md"} <= tracked(root)


def test_a_locked_index_is_moved_later(history, root):
    write(root, "a.md")
    lock = root / ".git/index.lock"
    lock.touch()
    assert history.commit("x")
    write(root, "b.md")
    assert history.commit("y")
    lock.unlink()
    assert git(root, "status", "--porcelain") != ""
    assert history.commit("nothing") == ""
    assert git(root, "status", "--porcelain") == ""
    assert not (root / ".kimi/git-owed").exists()


def test_a_late_move_of_the_index_spares_what_changed_since(history, root):
    write(root, "a.md", "1\n")
    write(root, "b.md", "1\n")
    lock = root / ".git/index.lock"
    lock.touch()
    history.commit("x")
    lock.unlink()
    git(root, "reset", "-q")
    git(root, "rm", "-q", "--cached", "b.md")
    git(root, "commit", "-qm", "person removed b")
    history.commit("y")
    assert git(root, "status", "--porcelain") == ""
    assert "b.md" in tracked(root)


def test_a_late_move_of_the_index_asks_what_the_branch_holds_now(history, root):
    before = history.head()
    write(root, "a.md", "1\n")
    lock = root / ".git/index.lock"
    lock.touch()
    ours = history.commit("x")
    lock.unlink()
    back = git(root, "commit-tree", f"{before}^{{tree}}", "-p", ours, "-m", "taken back")
    git(root, "update-ref", "HEAD", back)
    (root / "a.md").unlink()
    assert history.commit("nothing") == ""
    assert git(root, "status", "--porcelain") == ""


def test_a_debt_of_another_branch_is_dropped(history, root):
    git(root, "switch", "-qc", "side")
    write(root, "a.md", "1\n")
    lock = root / ".git/index.lock"
    lock.touch()
    history.commit("x")
    lock.unlink()
    git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    (root / "a.md").unlink()
    assert history.commit("nothing") == ""
    assert git(root, "status", "--porcelain") == ""


def test_a_debt_survives_a_crash_right_after_the_commit(history, root, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda opened: (synced.append(opened), real(opened)))
    write(root, "a.md")
    history.commit("x")
    assert synced, "the note of what the index is owed must be on disk before the branch moves"
