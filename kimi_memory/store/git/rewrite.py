"""History without a text: a repository written anew takes the old one's place."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from kimi_memory.errors import HistoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.command import Git, decode, encode
from kimi_memory.store.git.commit import writable_branch
from kimi_memory.store.git.purged_pairs import Onto
from kimi_memory.store.git.read import parse_objects
from kimi_memory.store.git.settings import is_marked, risky_settings
from kimi_memory.store.git.transfer import carry_history

SIDE = f"{PRIVATE}/purge"
"""Where the new repository grows; whatever lies here is passing."""
_KEPT = "refs/kimi/stash"
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f"}
_ESCAPES[b"v"] = b"\v"


class Wash(Protocol):
    """What takes a text out of bytes."""

    def count(self, content: bytes) -> int:
        """Return how often it stands there."""

    def words(self, content: bytes) -> bytes:
        """Return free text without it."""

    def name(self, path: str) -> str:
        """Return a path without it."""

    def content(self, path: str, content: bytes) -> bytes:
        """Return the bytes of a file without it."""


@dataclass(frozen=True, slots=True)
class Found:
    """How much of a history holds the text."""

    objects: int = 0
    commits: int = 0
    """Of all commits, those whose message, author or files hold it."""
    read: int = 0
    """How many objects were read …"""
    bytes: int = 0
    """… and how much that was."""


@dataclass(frozen=True, slots=True)
class _Staged:
    """One path of the person's index that differs from the last commit."""

    path: str
    mode: str
    content: bytes | None
    """None where they staged its removal."""


class Rewrite:
    """The whole repository of a memory. `run` needs the git lock."""

    def __init__(self, root: Path) -> None:
        self._root, self._folder, self._side = root, root / ".git", root / SIDE
        self._git = Git(root, self._folder)

    @property
    def present(self) -> bool:
        """Whether there is a repository at all."""
        return os.path.lexists(self._folder)

    def check(self) -> None:
        """Refuse a repository that cannot be rewritten whole.

        Raises:
            HistoryError: git is missing, or something in it is not ours to rewrite.
        """
        self._git.run("version")
        # A worktree or a submodule shares its objects with a repository that is not ours to
        # rewrite: the text would stay in the other one.
        if self._folder.is_symlink() or not self._folder.is_dir():
            raise HistoryError(f"{self._folder} is no folder of its own, so it cannot be purged.")
        for name, what in {
            "worktrees": "has linked worktrees. Remove them with 'git worktree remove'",
            "objects/info/alternates": "borrows objects of another. Run 'git repack -ad' first",
            "shallow": "is a shallow clone. Run 'git fetch --unshallow' first",
            "modules": "has submodules. Take them out first",
        }.items():
            if (self._folder / name).exists():
                raise HistoryError(f"The repository in {self._root} {what}, then purge again.")
        # Only a repository that we made or that a person gave us: a rewrite changes every commit's
        # name.
        if not is_marked(self._git):
            raise HistoryError(
                f"The repository in {self._root} is not this memory's, so it is not rewritten. "
                "Run 'kimi-memory init' to adopt it, or move it away, then purge again."
            )
        writable_branch(self._git, self._folder)

    def remotes(self) -> tuple[str, ...]:
        """Return the names of repositories this one was pushed to or fetched from."""
        return tuple(self._git.run("remote").decode("utf-8", "replace").split())

    def head(self) -> str:
        """Return the current commit, empty before the first."""
        return self._git.call("rev-parse", "-q", "--verify", "HEAD").text

    def search(self, wash: Wash) -> Found:
        """Return how many objects, reachable or not, hold the text."""
        # Unreachable ones as well: git keeps them for weeks, for anybody with the folder to read.
        found, sizes = {"commit": 0, "tree": 0, "blob": 0, "tag": 0}, []
        for kind, content in self._read_objects():
            found[kind] += any(wash.count(text) for text in _yield_texts(kind, content))
            sizes.append(len(content))
        named = found["commit"] + found["tag"]
        return Found(sum(found.values()), named, len(sizes), sum(sizes))

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield every file of every commit, once per content, with a path it has or had."""
        listed = self._git.run("rev-list", "--all", "--objects").splitlines()
        paths = dict(line.split(b" ", 1) for line in listed if b" " in line)
        out = self._git.run("cat-file", "--batch", feed=b"".join(id + b"\n" for id in paths))
        for id, kind, content in parse_objects(out):
            if kind == "blob":
                yield decode(paths[id]), content

    def run(self, wash: Wash, onto: Onto | None = None) -> str:
        """Write all refs anew and swap the repositories; return the new head.

        The old repository is untouched until one rename, and gone right after. It goes on upon a
        history that another copy has rewritten, where one is given.

        Raises:
            HistoryError: git refused; the history is as it was.
        """
        self.sweep()
        self._side.mkdir(mode=0o700)
        fresh = Git(self._root, self._side / "git")
        staged, stashes = self._staged_entries(), self._keep_stashes()
        # Counted on both sides: a purge is not undone, so no shorter history may take its place.
        shared = [f"^{commit}" for commit in onto.last_old()] if onto else []
        before = self._git.run("rev-list", "--all", "--count", *shared)
        self._make_repository(fresh, wash)
        self._import_history(fresh, wash, onto, shared)
        known = [f"^{onto.head}"] if onto else []
        if fresh.run("rev-list", "--all", "--count", *known) != before:
            raise HistoryError(  # pragma: no cover  no git at hand drops commits
                "The rewritten history lacks commits, so nothing was replaced."
            )
        _restore_stashes(fresh, stashes)
        if staged is not None:
            _restage_index(fresh, staged, wash)
        self._swap_repositories()
        self.sweep()
        return self.head()

    def sweep(self) -> None:
        """Remove what an earlier run left beside the repository, or the one it replaced."""
        old = self._side / "old"
        if not self.present and old.exists():
            # Killed between the two renames of a system that cannot swap.
            grown = self._side / "git"
            (grown if grown.exists() else old).rename(self._folder)
        if self._side.exists():
            shutil.rmtree(self._side)

    def _read_objects(self) -> Iterator[tuple[str, bytes]]:
        out = self._git.run("cat-file", "--batch-all-objects", "--unordered", "--batch")
        return ((kind, content) for _, kind, content in parse_objects(out))

    def _make_repository(self, fresh: Git, wash: Wash) -> None:
        fresh.run("init", "--quiet", "--template=", "--object-format=sha1")
        for name in ("config", "info/exclude", "info/attributes"):
            self._copy_washed(name, wash)
        for hook in sorted(self._folder.glob("hooks/*")):
            self._copy_washed(f"hooks/{hook.name}", wash)
        # The new repository is ours from the first byte: settings that run programs have no right
        # to be carried over.
        for name in risky_settings(fresh):
            fresh.run("config", "--unset-all", name)
        ref = self._git.run("symbolic-ref", "HEAD").strip()
        fresh.run("symbolic-ref", "HEAD", encode(wash.name(decode(ref))))

    def _copy_washed(self, name: str, wash: Wash) -> None:
        old, new = self._folder / name, self._side / "git" / wash.name(name)
        if not old.is_file() or old.is_symlink():
            return
        new.parent.mkdir(exist_ok=True)
        with new.open("wb") as file:
            file.write(wash.words(old.read_bytes()))
            file.flush()
            os.fsync(file.fileno())
        new.chmod(old.stat().st_mode)

    def _import_history(
        self, fresh: Git, wash: Wash, onto: Onto | None, shared: Sequence[str]
    ) -> None:
        stream = self._git.run(
            "fast-export", "--all", "--signed-tags=strip", "--tag-of-filtered-object=rewrite",
            # Words in another encoding would not be found; without the last word of the stream, one
            # that was cut off would pass for a whole one.
            "--reencode=yes", "--use-done-feature", "--reference-excluded-parents", *shared,
        )  # fmt: skip
        washed = b"".join(_wash_stream(stream, wash, onto))
        if onto is not None:
            carry_history(onto.git, fresh, onto.head)
        # Permissive: commits of old tools have zones that git would refuse today, and none of them
        # may be lost.
        fresh.run("fast-import", "--quiet", "--force", "--date-format=raw-permissive", feed=washed)
        if onto is not None:
            onto.carry_refs(self._git, fresh, wash.name)

    def _keep_stashes(self) -> list[str]:
        """Give every stash a ref, as only the newest has one; return them, newest first."""
        found = self._git.call("rev-list", "-g", "refs/stash").text.split()
        kept = [f"{_KEPT}/{number}" for number in range(len(found))]
        for ref, commit in zip(kept, found, strict=True):
            self._git.run("update-ref", ref, commit)
        return kept

    def _staged_entries(self) -> list[_Staged] | None:
        """Return what the person staged; None where they have no index."""
        if not (self._folder / "index").exists():
            return None
        index = _parse_entries(self._git.run("ls-files", "-s", "-z"))
        head = self.head()
        # Only what differs from the last commit is carried over: the rest of an index follows from
        # the new head.
        tree = (
            _parse_entries(self._git.run("ls-tree", "-r", "-z", "--full-tree", head))
            if head
            else {}
        )
        found = [_Staged(path, "0", None) for path in tree if path not in index]
        for path, (mode, id) in index.items():
            if tree.get(path) != (mode, id):
                found.append(_Staged(path, mode, self._git.run("cat-file", "blob", id)))
        return found

    def _swap_repositories(self) -> None:
        disk = Disk()
        above = disk.open(str(self._root), os.O_RDONLY | os.O_DIRECTORY)
        side = disk.open(str(self._side), os.O_RDONLY | os.O_DIRECTORY)
        try:
            # On disk before the rename: after a power cut there is either the old repository or a
            # whole new one.
            disk.fsync(side)
            try:
                disk.exchange("git", side, ".git", above)
            except OSError:
                # Not every file system can exchange two names at once; between these two renames
                # `sweep` of the next run knows what to do.
                disk.rename(".git", above, "old", side)
                disk.rename("git", side, ".git", above)
            disk.fsync(above)
        finally:
            disk.close(above)
            disk.close(side)


def _yield_texts(kind: str, content: bytes) -> Iterator[bytes]:
    """Yield what is text in an object: of a tree the names, not the hashes."""
    if kind != "tree":
        yield content
        return
    at = 0
    while at < len(content):
        # A tree is a list of "mode name\0" and twenty bytes of a hash, which may hold any byte by
        # chance.
        end = content.index(b"\0", at)
        yield content[at:end].partition(b" ")[2]
        at = end + 21


def _parse_entries(rows: bytes) -> dict[str, tuple[str, str]]:
    """Return mode and blob by path, of an index or a tree."""
    found = {}
    for row in rows.split(b"\0")[:-1]:
        about, _, path = row.partition(b"\t")
        parts = about.decode("ascii").split(" ")
        found[decode(path)] = (parts[0], parts[2] if parts[1] == "blob" else parts[1])
    return found


def _restage_index(fresh: Git, staged: Sequence[_Staged], wash: Wash) -> None:
    """Make the index of the new repository: its head, and what the person had staged."""
    has_head = fresh.call("rev-parse", "-q", "--verify", "HEAD").code == 0
    if has_head:  # pragma: no branch  a repository of ours is made with a commit
        fresh.run("read-tree", "HEAD")
    rows = []
    for one in staged:
        path, id = encode(wash.name(one.path)), b"0" * 40
        if one.content is not None:
            clean = wash.content(one.path, one.content)
            id = fresh.run("hash-object", "-w", "--stdin", feed=clean).strip()
        rows.append(b"%s %s\t%s\0" % (one.mode.encode(), id, path))
    fresh.run("update-index", "-z", "--index-info", feed=b"".join(rows))
    # Its answer does not matter: without it `git status` only takes longer, once.
    fresh.call("update-index", "-q", "--refresh")


def _restore_stashes(fresh: Git, kept: Sequence[str]) -> None:
    if kept:
        fresh.run("update-ref", "-d", "refs/stash")
    # The oldest first: the reflog of refs/stash is a stack, and its order is the number of a stash.
    for ref in reversed(kept):
        commit = fresh.run("rev-parse", ref).strip()
        about = fresh.run("log", "-1", "--format=%s", ref).strip()
        fresh.run("update-ref", "--create-reflog", b"-m" + about, "refs/stash", commit)
        fresh.run("update-ref", "-d", ref)


def _yield_commands(stream: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield the lines of a fast-export stream, with the bytes that follow a ``data`` line."""
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        line, at = stream[at:end], end + 1
        if line.startswith(b"data "):
            size = int(line[5:])
            yield line, stream[at : at + size]
            at += size
        else:
            yield line, None


def _wash_stream(stream: bytes, wash: Wash, onto: Onto | None = None) -> Iterator[bytes]:
    """Yield the stream anew; contents, messages, names and paths are washed."""
    paths = _blob_paths(stream)
    kind, mark = b"", b""
    for line, content in _yield_commands(stream):
        word, _, rest = line.partition(b" ")
        if content is not None:
            # The bytes of a file are washed by its kind, which its path tells; messages are plain
            # words.
            clean = wash.words(content)
            if kind == b"blob":
                clean = wash.content(paths.get(mark, ""), content)
            yield b"data %d\n%s" % (len(clean), clean)
            continue
        if word in {b"blob", b"commit", b"tag", b"reset"}:
            kind = word
        mark = rest if word == b"mark" else mark
        if onto is not None and word in {b"from", b"merge"}:
            rest = onto.renew(rest)
        yield _washed_line(word, rest, wash) + b"\n"


def _washed_line(word: bytes, rest: bytes, wash: Wash) -> bytes:
    match word:
        case b"M":
            mode, blob, path = rest.split(b" ", 2)
            return b" ".join((word, mode, blob, _quote_path(wash.name(_unquote_path(path)))))
        case b"D":
            return b"D " + _quote_path(wash.name(_unquote_path(rest)))
        case b"author" | b"committer" | b"tagger":
            # The time behind the address must stay as it is: digits of a purged text may stand in
            # it.
            who, end, when = rest.rpartition(b"> ")
            return word + b" " + wash.words(who) + end + when
        case b"commit" | b"reset" | b"tag":
            return word + b" " + encode(wash.name(decode(rest)))
    return word + b" " + rest if rest else word


def _blob_paths(stream: bytes) -> dict[bytes, str]:
    """Return a path of each blob, by its mark."""
    found: dict[bytes, str] = {}
    for line, _ in _yield_commands(stream):
        if line.startswith(b"M "):
            _, mark, path = line[2:].split(b" ", 2)
            # One content may have had several names; any of them tells of what kind it is.
            found.setdefault(mark, _unquote_path(path))
    return found


def _unquote_path(path: bytes) -> str:
    if not path.startswith(b'"'):
        return decode(path)
    return decode(re.sub(rb"\\([0-7]{3}|.)", _unescape_match, path[1:-1]))


def _unescape_match(found: re.Match[bytes]) -> bytes:
    mark = found[1]
    return bytes([int(mark, 8)]) if len(mark) == 3 else _ESCAPES.get(mark, mark)


def _quote_path(path: str) -> bytes:
    raw = encode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + raw + b'"'
