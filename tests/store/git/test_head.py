"""HEAD: its movements that bring something, and the commit of a moment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kimi_memory.store.git.head import (
    UNDER_WAY,
    brought_nothing,
    head_at,
    list_unexamined,
    note_examined,
)
from tests.store.git.test_arrivals import fetch, pair, pull, save
from tests.test_copies import git

__all__ = ["pair"]


def test_the_commit_of_a_moment_is_found(pair: tuple[Path, Path]) -> None:
    a, _ = pair
    zero, one, two = "0" * 40, "1" * 40, "2" * 40
    who = "Li <li@example.org>"
    lines = [
        f"{zero} {one} {who} 100 +0000\tclone: from somewhere",
        f"{one} {two} {who} 200 +0000\tpull: Fast-forward",
        "no line of a log",
    ]
    log = a / ".git" / "logs" / "HEAD"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    at = {moment: head_at(a / ".git", moment) for moment in (99.5, 100.5, 200.5, 201)}
    assert at == {99.5: "", 100.5: one, 200.5: one, 201: two}
    shutil.rmtree(a / ".git" / "logs")
    assert head_at(a / ".git", 4e9) == ""


def test_own_commits_bring_nothing_and_pulls_do(pair: tuple[Path, Path]) -> None:
    a, b = pair
    assert brought_nothing(a / ".git", 0)
    save(a, "own.md", "more\n")
    assert brought_nothing(a / ".git", 0)
    pull(a, b, "--no-rebase")
    assert not brought_nothing(a / ".git", 0)
    assert brought_nothing(a / ".git", 4e9)


@pytest.mark.parametrize("name", UNDER_WAY)
def test_what_is_under_way_may_bring_something(pair: tuple[Path, Path], name: str) -> None:
    a, b = pair
    fetch(a, b)
    assert brought_nothing(a / ".git", 4e9)
    (a / ".git" / name).write_text(git(a, "rev-parse", "theirs"), encoding="ascii")
    assert not brought_nothing(a / ".git", 4e9)


def test_a_repository_that_lies_elsewhere_has_to_be_asked(tmp_path: Path) -> None:
    place = tmp_path / ".git"
    assert brought_nothing(place, 0)
    place.write_text("gitdir: elsewhere\n", encoding="utf-8")
    assert not brought_nothing(place, 0)
    place.unlink()
    (tmp_path / "linked").mkdir()
    place.symlink_to(tmp_path / "linked")
    assert not brought_nothing(place, 0)


def test_what_was_examined_is_not_listed_again(pair: tuple[Path, Path]) -> None:
    a, b = pair
    assert list_unexamined(a, a / ".git", 0) == []
    pull(a, b, "--no-rebase")
    [first] = list_unexamined(a, a / ".git", 0)
    note_examined(a, first[1])
    assert list_unexamined(a, a / ".git", 0) == []
    save(b, "their.md", "newer\n")
    pull(a, b, "--no-rebase")
    [second] = list_unexamined(a, a / ".git", 0)
    assert second[0] == first[1]
    (a / ".kimi/merges").write_bytes(b"\xff")
    assert list_unexamined(a, a / ".git", 0) == [first, second]
