"""Two histories of one memory, one of them rewritten by a purge: paired commit by commit.

A purge keeps the order, moments and authors of all commits. What it took out of a file, the other
history still has: laid beside each other, both together say what it was.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kimi_memory.domain.tombstone import PURGED
from kimi_memory.store.git.command import Git, decode, encode
from kimi_memory.store.git.read import read_blobs
from kimi_memory.store.git.tree import differences

# A word from its beginning only: a stranger's message may be one word of 100 kB.
_NAME = re.compile(r"(?<!\S)\S*purged-\S*|(?:hmac:)?[0-9a-f]{10,64}")


class Washed(NamedTuple):
    """A file of one commit, as it was and as a purge left it."""

    path: str
    old: bytes
    new: bytes


class Onto(NamedTuple):
    """A history that was purged elsewhere, upon which another one goes on."""

    git: Git
    """Has both."""
    head: str
    pairs: Mapping[str, str]
    """The new commit of each old one."""

    def last_old(self) -> list[str]:
        """Return the old commits that no other paired one descends from."""
        feed = "".join(f"{old}\n" for old in self.pairs).encode()
        listed = self.git.run("rev-list", "--parents", "--no-walk", "--stdin", feed=feed)
        before = {parent for row in listed.decode().splitlines() for parent in row.split()[1:]}
        return [old for old in self.pairs if old not in before]

    def renew(self, commit: bytes) -> bytes:
        """Return the new name of a commit; that of another one as it is."""
        return self.pairs.get(commit.decode("ascii", "replace"), "").encode() or commit

    def carry_refs(self, old: Git, fresh: Git, rename: Callable[[str], str]) -> None:
        """Have refs to old commits name the new ones.

        Args:
            old: the repository that has the refs.
            fresh: gets them.
            rename: returns the name of a ref without what was purged.
        """
        rows = old.run("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
        for commit, ref in (row.split(b" ", 1) for row in rows):
            if commit.decode("ascii") in self.pairs:
                fresh.run("update-ref", encode(rename(decode(ref))), self.renew(commit))


class _Row(NamedTuple):
    commit: str
    parents: tuple[str, ...]
    moments: str
    """When it was written and committed, as git lists them."""
    message: tuple[str, ...]


def pair_commits(git: Git, old: str, new: str) -> dict[str, str]:
    """Return the commits of an old history that a new one has rewritten, or still has.

    Args:
        git: has both.
        old: the last commit of the history from before.
        new: that of the one which was purged.
    """
    rows = {row.commit: row for row in _read_rows(git, old)}
    by_form: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for row in rows.values():
        by_form[row.parents, row.moments].append(row.commit)
    found: dict[str, str] = {}
    back: dict[str, str] = {}
    for row in _read_rows(git, new):
        if any(parent not in back for parent in row.parents):
            continue
        parents = tuple(back[parent] for parent in row.parents)
        near = [rows[one] for one in by_form[parents, row.moments] if one not in found]
        same = [row.commit] if row.commit in rows else []
        # What two copies wrote at one moment upon one commit differs in its message.
        fits = same or [one.commit for one in near if one.message == row.message]
        fits = fits or [one.commit for one in near if _may_be(one.message, row.message)]
        if len(fits) == 1:
            found[fits[0]], back[row.commit] = row.commit, fits[0]
    return found


def _may_be(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether a message is another one that was washed: marks, and other hashes and names."""
    return len(old) == len(new) and all(
        one == other or PURGED in other or _NAME.sub("", one) == _NAME.sub("", other)
        for one, other in zip(old, new, strict=True)
    )


def _read_rows(git: Git, commit: str) -> Iterator[_Row]:
    """Yield the commits of a history, parents first."""
    how = ("--topo-order", "--reverse", "--no-commit-header", "--format=%H %P%n%ct %at%n%B%x00")
    for text in git.run("rev-list", *how, commit).decode("utf-8", "replace").split("\0\n")[:-1]:
        names, _, rest = text.partition("\n")
        moments, _, message = rest.partition("\n")
        id, *parents = names.split()
        yield _Row(id, tuple(parents), moments, tuple(message.splitlines()))


def read_washed(git: Git, pairs: Mapping[str, str]) -> list[Washed]:
    """Return the files that a purge changed, each pair of contents once."""
    # As git reads it, a commit and its parent: what differs from the old one.
    feed = "".join(f"{new} {old}\n" for old, new in pairs.items() if old != new).encode()
    if not feed:
        return []
    plain = ("--stdin", "-r", "--no-renames", "--no-abbrev", "-z", "--no-commit-id")
    words = iter(git.run("diff-tree", *plain, feed=feed).split(b"\0")[:-1])
    found: dict[tuple[str, str], str] = {}
    for word in words:
        if word.startswith(b":"):
            path, about = decode(next(words)), word.decode("ascii").split(" ")
            if about[2].strip("0") and about[3].strip("0"):
                found[about[2], about[3]] = path
    contents = read_blobs(git, sorted({blob for pair in found for blob in pair}))
    return [Washed(path, contents[old], contents[new]) for (old, new), path in found.items()]


class Replaced(NamedTuple):
    """The files in which a commit and its rewritten one differ, by path."""

    old: dict[str, bytes]
    new: dict[str, bytes]


def read_replaced(git: Git, pairs: Mapping[str, str]) -> Iterator[Replaced]:
    """Yield what a purge changed in each commit, also where it gave a file another name."""
    for old, new in pairs.items():
        if old != new:
            found = differences(git, old, new)
            names = {one.blob for pair in found for one in (pair.old, pair.new) if one is not None}
            contents = read_blobs(git, sorted(names))
            yield Replaced(
                {one.path: contents[one.old.blob] for one in found if one.old is not None},
                {one.path: contents[one.new.blob] for one in found if one.new is not None},
            )


def has_washed_message(git: Git, pairs: Mapping[str, str]) -> bool:
    """Whether the message of a rewritten commit lost words."""
    feed = "".join(f"{new}\n" for old, new in pairs.items() if old != new).encode()
    said = git.run("rev-list", "--no-walk", "--stdin", "--format=%B", feed=feed) if feed else b""
    return PURGED.encode() in said
