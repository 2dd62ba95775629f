"""Arrivals: the versions of files that came with commits which this copy did not make."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kimi_memory.store.git.command import Git, decode
from kimi_memory.store.git.head import UNDER_WAY, movements
from kimi_memory.store.git.read import read_touched


def arrivals(
    git: Git, folder: Path, since: float, *, merged: bool = False
) -> Mapping[str, frozenset[str]]:
    """Return the blobs that pulls, merges and the like brought, by path.

    Args:
        git: over the repository.
        folder: of the repository.
        since: a moment of the system clock; earlier movements are left out.
        merged: leave out what came as a person went to another state.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for old, new, by_hand in [*movements(folder, since, merged=merged), *_under_way(git, folder)]:
        changed = _changed_blobs(git, f"{new} {old}")
        # What differs from both sides of a merge that a person committed, they have settled.
        settled = {path for path, _ in _changed_blobs(git, new, "-c")} if by_hand else set()
        for path, blob in changed:
            if path not in settled:
                found[path].add(blob)
    if (folder / "MERGE_HEAD").exists():
        # What git merged without a conflict is in the index before there is a commit.
        for path, blob in _staged_blobs(git):
            if path in found:
                found[path].add(blob)
    return {path: frozenset(blobs) for path, blobs in found.items()}


def list_passed(git: Git, folder: Path, since: float) -> Mapping[str, frozenset[str]]:
    """Return the commits that came since a moment, by the blobs that they made.

    Args:
        git: over the repository.
        folder: of the repository.
        since: a moment of the system clock; earlier movements are left out.
    """
    moved = list(movements(folder, since))
    ends = "".join(f"{commit}\n" for old, new, _ in moved for commit in (old, new)).encode()
    how = ("rev-list", "--parents", "--ignore-missing", "--stdin")
    listed = git.call(*how, feed=ends).out.decode("ascii").splitlines() if moved else []
    parents = {commit: before for commit, *before in map(str.split, listed)}
    known, came = set[str](), set[str]()
    for old, new, _ in moved:
        # What was made here since the movement before is no news, and later ones build upon it.
        _walk(parents, old, known)
        came |= _walk(parents, new, known)
    found: dict[str, set[str]] = defaultdict(set)
    for one in read_touched(git, sorted(came & parents.keys())):
        found[one.blob].add(one.commit)
    return {blob: frozenset(commits) for blob, commits in found.items() if blob}


def _walk(parents: Mapping[str, Sequence[str]], commit: str, known: set[str]) -> set[str]:
    """Add a commit and all that it descends from to those that are known; return the new ones."""
    found, waiting = set[str](), [commit]
    while waiting:
        one = waiting.pop()
        if one not in known:
            known.add(one)
            found.add(one)
            waiting += parents.get(one, ())
    return found


def _under_way(git: Git, folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield what a merge that is not finished brings."""
    for name in UNDER_WAY:
        if (folder / name).exists():
            sides = git.call("rev-parse", "HEAD^{commit}", f"{name}^{{commit}}")
            if sides.code == 0:
                ours, theirs = sides.text.split()
                yield ours, theirs, False


def _changed_blobs(git: Git, commits: str, *how: str) -> list[tuple[str, str]]:
    """Return path and blob of what a commit changed against another, or all its parents."""
    plain = ("--stdin", "-r", "--no-renames", "--no-abbrev", "-z", *how)
    done = git.call("diff-tree", *plain, feed=f"{commits}\n".encode())
    if done.code != 0:
        return []  # A commit that was pruned brought nothing that is still here.
    words = iter(done.out.split(b"\0")[:-1])
    found = []
    for word in words:
        if word.startswith(b":"):
            parents = len(word) - len(word.lstrip(b":"))
            blob = word.split(b" ")[2 * parents + 1].decode("ascii")
            found.append((decode(next(words)), blob))
    return [(path, blob) for path, blob in found if blob.strip("0")]


def _staged_blobs(git: Git) -> Iterator[tuple[str, str]]:
    """Yield path and blob of what git merged by itself."""
    for row in git.call("ls-files", "-s", "-z").out.split(b"\0")[:-1]:
        about, _, path = row.partition(b"\t")
        _, blob, stage = about.split(b" ")
        # Other stages are the sides of a conflict, which the person has yet to settle.
        if stage == b"0":
            yield decode(path), blob.decode("ascii")
