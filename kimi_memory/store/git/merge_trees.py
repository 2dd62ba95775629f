"""The files that are merged: what differs between commits, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from kimi_memory.store.files.paths import RECEIPTS, is_kept
from kimi_memory.store.git.command import Entry, Git, decode, refusal
from kimi_memory.store.git.read import read_blobs, read_files
from kimi_memory.store.git.tree import differences_from, list_paths

ListTree = Callable[[str], Mapping[str, Entry]]
"""Returns every path of a commit."""


class Versions(NamedTuple):
    """What differs between commits: the bytes of the files that are not the same in all."""

    trees: tuple[Mapping[str, bytes], ...]
    """One mapping for each commit, by path."""


def read_versions(
    git: Git, list_tree: ListTree, commits: Sequence[str], *, whole: bool
) -> Versions:
    """Return files that differ between commits.

    Args:
        git: the repository.
        list_tree: lists a commit.
        commits: what is compared.
        whole: whether the others are wanted, too.
    """
    listed = map(list_tree, commits) if whole else _list_changed(git, commits)
    trees = [_keep_plain(tree) for tree in listed]
    blobs = {path: {tree.get(path) for tree in trees} for tree in trees for path in tree}
    wanted = {path for path, found in blobs.items() if whole or len(found) > 1}
    names = {tree[path] for tree in trees for path in wanted & tree.keys()}
    contents = read_blobs(git, sorted(names))
    return Versions(
        tuple({p: contents[tree[p]] for p in sorted(wanted & tree.keys())} for tree in trees)
    )


def find_notes(git: Git, commit: str, ids: Collection[str]) -> set[str]:
    """Return the paths of a commit whose pages name one of some ids."""
    if not ids:
        return set()
    # Git reads a whole memory in a tenth of the time in which it hands it over, and a list of
    # words takes it several times as long as one pattern.
    plain = ("-l", "-z", "--text", "--full-name", "--no-recurse-submodules", "--threads=1")
    wanted = ("grep", *plain, "-E", "-f", "-", commit, "--", "*.md")
    feed = "|".join(sorted(ids)).encode()
    found = git.call(*wanted, feed=feed, GIT_LITERAL_PATHSPECS="0")
    if found.code > 1:
        raise refusal(wanted, found.err)
    rows = found.out.split(b"\0")[:-1]
    return set(filter(is_kept, (decode(row.removeprefix(f"{commit}:".encode())) for row in rows)))


def read_paths(git: Git, commit: str, paths: Collection[str]) -> dict[str, bytes]:
    """Return files of a commit by their paths; those that it has not are left out."""
    # Git unpacks a folder for each path that it is asked for, and nearly none is there.
    there = list_paths(git, commit).intersection(paths) if paths else ()
    found = read_files(git, ((commit, path) for path in there))
    return {path: content for (_, path), content in found.items()}


def _list_changed(git: Git, commits: Sequence[str]) -> Iterator[Mapping[str, Entry | None]]:
    """Yield of each commit the paths in which they differ."""
    # To list whole trees takes longer than to merge what differs.
    first, *others = commits
    changed = differences_from(git, first, others)
    base = {one.path: one.old for rows in changed.values() for one in rows}
    yield base
    yield from (base | {one.path: one.new for one in changed[other]} for other in others)


def _keep_plain(tree: Mapping[str, Entry | None]) -> dict[str, str]:
    """Return the blobs of the files of truth; nothing else is merged."""
    return {
        path: one.blob
        for path, one in tree.items()
        if one is not None and one.mode[:3] == "100" and is_kept(path) and path != RECEIPTS
    }
