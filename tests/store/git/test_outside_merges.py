"""Merges that came with movements of HEAD, found over real git."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.store.git.command import Git
from kimi_memory.store.git.head import movements
from kimi_memory.store.git.outside_merges import FoundMerge, find_merges
from kimi_memory.store.git.tree import clear_conflicts
from tests.store.git.test_arrivals import pair, pull, save
from tests.test_copies import git

__all__ = ["pair"]


def find(root: Path) -> list[FoundMerge]:
    here = Git(root, root / ".git")
    return find_merges(here, list(movements(root / ".git", 0)))


def merge(a: Path, b: Path, *how: str) -> str:
    pull(a, b, "--no-rebase", "-X", "ours", *how)
    return git(a, "rev-parse", "HEAD").strip()


def test_a_merge_of_git_is_found_until_a_commit_repairs_it(pair: tuple[Path, Path]) -> None:
    a, b = pair
    assert find(a) == []
    made = merge(a, b)
    first, second = git(a, "rev-parse", "HEAD^1", "HEAD^2").split()
    assert find(a) == [FoundMerge(made, first, second, by_values=False)]
    save(a, "more.md", "more\n")
    assert [one.commit for one in find(a)] == [made]
    git(a, "commit", "-q", "--allow-empty", "-m", f"Repair\n\nRepairs: {made}")
    assert find(a) == []


def test_what_was_merged_by_values_elsewhere_is_finished_there(pair: tuple[Path, Path]) -> None:
    a, b = pair
    merge(a, b)
    git(a, "commit", "-q", "--amend", "-m", "merge: two copies\n\nMerge-Rules: 1")
    assert find(a) == []
    git(b, "pull", "-q", "--ff-only", str(a), "main")
    [found] = find(b)
    assert found.by_values
    save(a, "more.md", "more\n")
    git(a, "branch", "-f", "side", "HEAD")
    git(b, "reset", "-q", "--hard", "HEAD@{1}")
    git(b, "pull", "-q", "--ff-only", str(a), "side")
    assert [one.by_values for one in find(b)] == [True], "HEAD was at it here"


def test_a_movement_from_a_commit_that_is_gone_has_no_merges(pair: tuple[Path, Path]) -> None:
    a, b = pair
    made = merge(a, b)
    assert find_merges(Git(a, a / ".git"), [("1" * 40, made, False)]) == []


def test_sides_of_a_conflict_leave_the_index(pair: tuple[Path, Path]) -> None:
    a, b = pair
    here, head = Git(a, a / ".git"), git(a, "rev-parse", "HEAD").strip()
    assert clear_conflicts(here, head)
    save(b, "new.md", "of b\n")
    save(a, "both.md", "ours\n")
    save(a, "new.md", "of a\n")
    git(a, "fetch", "-q", str(b), "main")
    head = git(a, "rev-parse", "HEAD~1").strip()
    git(a, "read-tree", "-m", "HEAD~3", "HEAD", "FETCH_HEAD")
    assert {row.split("\t")[1] for row in git(a, "ls-files", "-u").splitlines()} == {
        *("both.md", "new.md")
    }
    assert clear_conflicts(here, head)
    assert git(a, "ls-files", "-u") == ""
    assert git(a, "ls-files").split() == ["both.md", "own.md", "their.md"]
