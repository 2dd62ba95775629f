"""What a merge reads of the commits that it joins."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.note import Card, CardType
from kimi_memory.formats import codec
from kimi_memory.jobs.merging import join_commits
from kimi_memory.store.git import merge_trees
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.history import History
from kimi_memory.store.git.merge_trees import find_notes
from kimi_memory.store.git.tree import differences, differences_from
from tests.store.git.repositories import git, write

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)
CARDS = 40


def commit(root: Path) -> str:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x", "--allow-empty")
    return git(root, "rev-parse", "HEAD")


def test_ids_are_found_in_every_page_that_names_them(history: History, root: Path) -> None:
    write(root, ".gitattributes", "*.md binary\n")
    write(root, "a.md", "says card-1x\n")
    write(root, "深/部署 [1].md", "前 card-2y 后\n")
    write(root, "深/c.md", "\0card-1x\0\n")
    write(root, "short-term/session_s1.jsonl", "a turn that names card-1x\n")
    write(root, "other.md", "card-1\n")
    first = commit(root)
    write(root, "a.md", "nothing any more\n")
    second = commit(root)
    asked = Git(root, root / ".git")
    wanted = ["card-1x", "card-2y"]
    assert find_notes(asked, first, wanted) == {"a.md", "深/c.md", "深/部署 [1].md"}
    assert find_notes(asked, second, wanted) == {"深/c.md", "深/部署 [1].md"}
    assert find_notes(asked, second, ["card-9"]) == find_notes(asked, first, []) == set()


def test_what_differs_is_told_of_several_commits_at_once(history: History, root: Path) -> None:
    write(root, "a.md", "1\n")
    base = commit(root)
    write(root, "深/b c.md", "2\n")
    one = commit(root)
    (root / "a.md").unlink()
    other = commit(root)
    same = commit(root)
    asked = Git(root, root / ".git")
    others = [one, other, same, base]
    assert differences_from(asked, base, others) == {
        each: differences(asked, base, each) for each in others
    }


def test_a_merge_with_a_losing_version_reads_the_changed_notes_alone(
    history: History, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(number: int, port: int) -> None:
        card = Card(
            id=f"card-{number:04d}", created=NOW, updated=NOW, title=f"Port {number}",
            type=CardType.FACT, key=f"port.n{number}", value=f"The port is {port}.",
        )  # fmt: skip
        write(root, codec.place(card), codec.render(card))

    for number in range(CARDS):
        say(number, 8000)
    base = commit(root)
    heads = []
    for port in (8001, 8002):
        git(root, "checkout", "-q", "-B", "side", base)
        say(7, port)
        heads.append(commit(root))
    asked, real = [], merge_trees.read_blobs

    def read(asked_git: Git, names: list[str]) -> dict[str, bytes]:
        asked.extend(names)
        return real(asked_git, names)

    monkeypatch.setattr(merge_trees, "read_blobs", read)
    _, merged = join_commits(history.merger(), [base], heads)
    assert len(merged.notes.variants) == 1
    assert len(asked) == 3, "the whole memory was read"
