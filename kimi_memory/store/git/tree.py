"""How the files on disk differ from a commit."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from kimi_memory.store.files.stat import Stat, settled_stat
from kimi_memory.store.git.cache import Entry
from kimi_memory.store.git.command import Git, decode, encode, refusal
from kimi_memory.store.git.files import is_gone, read_plain, scan, scan_paths

_PLAIN = "100644"
NOTHING = "0" * 40


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between a commit and the disk; None is absence."""

    path: str
    old: Entry | None
    new: Entry | None


def blob_name(content: bytes) -> str:
    """Return the object name git gives a content."""
    head = b"blob %d\0" % len(content)
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


def list_tree(git: Git, commit: str) -> dict[str, Entry]:
    """Return every path of a commit; none for an empty name."""
    if not commit:
        return {}
    entries = {}
    for row in git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        about, _, path = row.partition(b"\t")
        mode, _, blob = about.decode("ascii").split(" ")
        entries[decode(path)] = Entry(mode, blob)
    return entries


@dataclass(slots=True)
class Compared:
    """How the disk differs from a commit."""

    differences: list[Difference] = field(default_factory=list)
    renewed: dict[str, Entry] = field(default_factory=dict)
    """Paths that were read and found the same, with how their files look now."""

    def take(self, path: str, old: Entry | None, content: bytes, stat: Stat) -> bool:
        """Take in what a file holds; tell whether it differs."""
        mode = old.mode if old is not None and old.mode.startswith("100") else _PLAIN
        new = Entry(mode, blob_name(content), stat)
        if old is not None and (old.mode, old.blob) == (new.mode, new.blob):
            self.renewed[path] = new
            return False
        self.differences.append(Difference(path, old, new))
        return True


def compare(
    git: Git,
    entries: Mapping[str, Entry],
    add: Callable[[bytes], None],
    only: Collection[str] | None = None,
) -> Compared:
    """Return how the disk differs from a commit.

    Args:
        git: the repository.
        entries: the paths of the commit.
        add: takes the content of a file that differs.
        only: the paths to look at; None for all.
    """
    now, result = time.time_ns(), Compared()
    files = (scan(git.root) if only is None else scan_paths(git.root, only)).files
    listed = entries if only is None else entries.keys() & set(only)
    for path in _ignored_paths(git, [path for path in files if path not in entries]):
        del files[path]
    result.differences += [
        Difference(path, entries[path], None)
        for path in listed
        if path not in files and is_gone(git.root, path, entries[path].mode)
    ]
    for path, stat in files.items():
        old = entries.get(path)
        if old is None or old.stat != stat:
            content = read_plain(git.root, path)
            if content is not None and result.take(path, old, content, settled_stat(stat, now)):
                add(content)
    return result


def _ignored_paths(git: Git, paths: list[str]) -> list[str]:
    """Return which new paths the owner's ignore files keep out."""
    if not paths:
        return []
    # This command knows no literal paths; the prefix keeps a name from being magic.
    feed = b"".join(b"./" + encode(path) + b"\0" for path in paths)
    arguments = ("check-ignore", "-z", "--stdin", "--no-index")
    result = git.call(*arguments, feed=feed, GIT_LITERAL_PATHSPECS="0")
    if result.code > 1:
        raise refusal(arguments, result.err)
    return [decode(path.removeprefix(b"./")) for path in result.out.split(b"\0")[:-1]]
