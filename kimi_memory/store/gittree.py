"""Trees made from the files on disk, through an index of our own.

Contents reach git as a stream, never as a path: what we read is what is committed, and
no filter of the repository runs.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from kimi_memory.store.git import Git, decode, encode, refusal
from kimi_memory.store.gitcache import Cache, Entry
from kimi_memory.store.gitfiles import Scan, is_gone, look, read_plain, scan
from kimi_memory.store.signature import Stat, settled

_PLAIN = "100644"
NOTHING = "0" * 40


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between a commit and the disk; None is absence."""

    path: str
    old: Entry | None
    new: Entry | None


class Blobs:
    """A stream of contents into the object store; `git fast-import` starts with the first."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._broken = False

    def __enter__(self) -> Blobs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is None:
            return
        if error is not None:
            self._process.kill()
        _, err = self._process.communicate()
        if error is None and self._process.returncode != 0:
            raise refusal(("fast-import",), err.decode("utf-8", "replace"))

    def add(self, content: bytes) -> None:
        """Add one content."""
        if self._process is None:
            self._process = self._git.stream("fast-import", "--quiet")
        if self._broken or self._process.stdin is None:
            return
        try:
            self._process.stdin.write(b"blob\ndata %d\n%b\n" % (len(content), content))
        except BrokenPipeError:
            # Its exit code and words are read when the stream is closed.
            self._broken = True


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


def compare(
    git: Git, cache: Cache, blobs: Blobs, only: Collection[str] | None = None
) -> tuple[list[Difference], Scan]:
    """Return how the disk differs from the cached commit; contents go into `blobs`.

    Signatures of files that were read and found the same are renewed in the cache.
    With `only`, no other paths are looked at.
    """
    now = time.time_ns()
    found = scan(git.root) if only is None else look(git.root, only)
    listed = cache.entries if only is None else cache.entries.keys() & set(only)
    fresh = [path for path in found.files if path not in cache.entries]
    for path in _ignored(git, fresh):
        del found.files[path]
    differences = [
        Difference(path, cache.entries[path], None)
        for path in listed
        if path not in found.files and is_gone(git.root, path, cache.entries[path].mode)
    ]
    for path, stat in found.files.items():
        old = cache.entries.get(path)
        if old is None or old.stat != stat:
            differences.extend(_look(git, cache, blobs, path, settled(stat, now)))
    return differences, found


def _look(git: Git, cache: Cache, blobs: Blobs, path: str, stat: Stat) -> list[Difference]:
    content = read_plain(git.root, path)
    if content is None:
        return []
    old = cache.entries.get(path)
    mode = old.mode if old is not None and old.mode.startswith("100") else _PLAIN
    new = Entry(mode, blob_name(content), stat)
    if old is not None and (old.mode, old.blob) == (new.mode, new.blob):
        cache.entries[path] = new
        return []
    blobs.add(content)
    return [Difference(path, old, new)]


def _ignored(git: Git, paths: list[str]) -> list[str]:
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


def prepare_index(git: Git, work: Path, kept: Path, cache: Cache) -> None:
    """Make an index at `work` that holds the cached commit."""
    if cache.index and kept.is_file() and _sum(kept) == cache.index:
        shutil.copyfile(kept, work)
    elif cache.head:
        git.using(work).run("read-tree", cache.head)


def write_tree(git: Git, work: Path, differences: list[Difference]) -> str:
    """Put differences into the index at `work`, and write and return its tree."""
    mine = git.using(work)
    mine.run("update-index", "--replace", "-z", "--index-info", feed=index_lines(differences))
    return mine.run("write-tree").decode("ascii").strip()


def index_lines(differences: list[Difference]) -> bytes:
    """Return the differences as git reads them; absences first, they make room."""
    ordered = sorted(differences, key=lambda difference: difference.new is not None)
    return b"".join(_index_line(difference) for difference in ordered)


def _index_line(difference: Difference) -> bytes:
    mode, blob = difference.new[:2] if difference.new else ("0", NOTHING)
    return f"{mode} {blob}\t".encode() + encode(difference.path) + b"\0"


def adopt(cache: Cache, differences: list[Difference], work: Path, commit: str) -> Cache:
    """Return the cache of a commit that carries the differences out."""
    entries = dict(cache.entries)
    for difference in differences:
        if difference.new is None:
            entries.pop(difference.path, None)
        else:
            entries[difference.path] = difference.new
    return Cache(commit, _sum(work), entries)


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
