"""How the disk differs from a commit."""

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import commit as git_commit
from kimi_memory.store.git import tree
from tests.store.git.repositories import tracked, write


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
