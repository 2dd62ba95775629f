"""Merges that came with movements of HEAD: those that git made, and ours that were cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kimi_memory.store.git.command import Git
from kimi_memory.store.git.commit import FORMAT, parse_log
from kimi_memory.store.git.head import Movement

REPAIRS = "Repairs"
"""The trailer of a commit that repairs a merge; it names the merge."""


class FoundMerge(NamedTuple):
    """A merge of two commits."""

    commit: str
    first: str
    second: str
    by_values: bool
    """Whether it was made value by value; only what follows from that may be missing."""


def find_merges(git: Git, moved: Sequence[Movement]) -> list[FoundMerge]:
    """Return the merges that came with movements of HEAD and may be unfinished, oldest first."""
    if not moved:
        return []
    span = ("HEAD", f"^{moved[0][0]}")
    form = "--format=%H %P %x00%(trailers:key=Merge-Rules,valueonly=true,separator=%x20)"
    how = ("--merges", "--max-parents=2", "--topo-order", "--reverse", "--no-commit-header")
    listed = git.call("rev-list", *how, form, *span)
    # Where the commit before is pruned, nobody knows what came after it.
    rows = listed.out.decode("utf-8", "replace").splitlines() if listed.code == 0 else []
    found, made, repaired = [], {new for _, new, _ in moved}, _list_repaired(git, span)
    for row in rows:
        names, _, rules = row.partition("\0")
        commit, first, second = names.split()
        merge = FoundMerge(commit, first, second, bool(rules.strip()))
        # What another copy made value by value it settles itself.
        if merge.commit in made if merge.by_values else merge.commit not in repaired:
            found.append(merge)
    return found


def _list_repaired(git: Git, span: tuple[str, str]) -> set[str]:
    how = ("--no-commit-header", f"--format={FORMAT}", "--fixed-strings", f"--grep={REPAIRS}: ")
    commits = parse_log(git.call("rev-list", *how, *span).out)
    return {commit.trailers.get(REPAIRS, "") for commit in commits}
