"""A copy of a memory at a remote: its refs, its history, and what is sent there.

A bare repository of our own speaks with it, which borrows the objects of the memory: so the
settings of the memory's repository are never read, and what comes lies apart until it is checked.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Self

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.git.command import Git, Result, decode
from kimi_memory.store.git.incoming import brings_purge, has_rewritten, keep_objects
from kimi_memory.store.git.network import (
    Deadline,
    call_remote,
    describe_failure,
    late_remote,
    local_programs,
)
from kimi_memory.store.git.purged_pairs import pair_commits
from kimi_memory.store.git.read import find_types, read_content
from kimi_memory.store.git.remotes import Remote, find_folder
from kimi_memory.store.git.tree import differences

COPIES = "refs/kimi/copies"
"""Below it, each copy keeps its own commit."""
SEEN = "refs/kimi/seen"
"""Below it, here, by remote and branch, the last commit there that was taken or sent."""
_RESCUE = "refs/kimi/rescue"
"""Below it, here, what a remote had before its history was replaced."""
_FETCHED = "refs/kimi/fetched"
_KNOWN = "refs/kimi/known"
_RACES = ("[rejected]", "lock", "failed to update ref", "stale info")
"""Words of git where somebody else pushed meanwhile."""
_HASH = re.compile(r"[0-9a-f]{40}")


class Heads(NamedTuple):
    """What a remote has; empty where it has none."""

    main: str
    own: str
    """Of this copy."""


class Losses(NamedTuple):
    """What goes where one state is taken for another."""

    versions: int
    deleted: tuple[str, ...]
    changed: tuple[str, ...]


class Sent(NamedTuple):
    """What became of a push."""

    main: bool
    """Whether the branch is there now; else somebody else pushed meanwhile."""
    refused: str
    """Why the remote does not keep this copy's own commit; empty where it does."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository, its derived folder, and the lock of its refs."""

    git: Git
    side: Path
    lock: Callable[[], AbstractContextManager[object]]
    ref: str
    """The current branch, which copies share."""
    head: str
    """Its commit."""


class RemoteCopy:
    """Speaks with one remote; use it as a context manager.

    Args:
        place: the repository of the memory.
        remote: whom to speak with.
        deadline: when all calls end.
    """

    def __init__(self, place: Place, remote: Remote, deadline: Deadline) -> None:
        self._place, self._remote, self._deadline = place, remote, deadline
        # A name of its own: a push that outlived its process may still write to the last one.
        self._folder = place.side / "remote" / f"{remote.name}-{secrets.token_hex(4)}.git"
        self._upload, self._receive = local_programs(remote.url)
        self._how = [self._upload] if self._upload else []

    def __enter__(self) -> Self:
        self._clear()
        self._folder.mkdir(parents=True, mode=0o700)
        self._git = self._place.git.aside(self._folder)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._clear()

    def _clear(self) -> None:
        # Also what a killed process left: it may hold what was purged since. One at a time syncs.
        for left in self._folder.parent.glob("*.git"):
            shutil.rmtree(left, ignore_errors=True)

    def list_heads(self, copy: str) -> Heads:
        """Return where the branch and a copy's own ref are.

        Raises:
            RemoteError: it cannot be reached.
        """
        own = f"{COPIES}/{copy}"
        done = self._call("ls-remote", "--refs", *self._how, self._remote.url, self._place.ref, own)
        if done.code != 0:
            raise describe_failure(self._remote.name, done.err)
        rows = (decode(row).partition("\t") for row in done.out.splitlines())
        found = {ref: commit for commit, _, ref in rows if _HASH.fullmatch(commit)}
        return Heads(found.get(self._place.ref, ""), found.get(own, ""))

    def fetch(self) -> str:
        """Bring the branch with its history, apart from the memory; return its commit.

        Raises:
            RemoteError: it cannot be reached, or what it sends is damaged.
        """
        # What is here need not be sent, nor looked at again.
        known = self._folder / _KNOWN
        known.parent.mkdir(exist_ok=True)
        known.write_text(f"{self._place.head}\n", encoding="ascii")
        how = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="]
        done = self._call(
            "fetch", "-q", *how, *self._how, self._remote.url, f"+{self._place.ref}:{_FETCHED}"
        )
        if done.code != 0:
            raise describe_failure(self._remote.name, done.err)
        return self._git.run("rev-parse", f"{_FETCHED}^{{commit}}").decode("ascii").strip()

    @property
    def git(self) -> Git:
        """What sees our objects beside those that were fetched."""
        return self._git

    def descends(self, commit: str, old: str) -> bool:
        """Whether a commit descends from an old one, or is it."""
        return self._git.call("merge-base", "--is-ancestor", old, commit).code == 0

    def shares_history(self, commit: str) -> bool:
        """Whether a commit and the current one descend from one commit."""
        return self._git.call("merge-base", commit, self._place.head).code == 0

    def read_content(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit that was fetched; None where it is not in it."""
        return read_content(self._git, commit, path)

    def brings_purge(self, commit: str) -> bool:
        """Whether a commit has the record of a purge that the current one has not."""
        return brings_purge(self._git, self._place.head, commit)

    def has_rewritten(self, commit: str) -> bool:
        """Whether a commit and the current one have two versions of what a purge rewrote."""
        return has_rewritten(self._git, self._place.head, commit)

    def admit(self) -> None:
        """Let what was fetched into the memory's own repository; no ref names it."""
        keep_objects(self._place.git, self._git)

    def measure_losses(self, old: str, new: str) -> Losses:
        """Return what would go where a new state took the place of an old one."""
        count = int(self._git.run("rev-list", "--count", old, f"^{new}"))
        found = differences(self._git, old, new)
        deleted = tuple(one.path for one in found if one.new is None)
        return Losses(count, deleted, tuple(one.path for one in found if one.new and one.old))

    def keep_rescued(self, commit: str) -> str:
        """Keep what a remote had, whatever becomes of it; return the ref."""
        ref = f"{_RESCUE}/{self._remote.name}-{commit[:12]}"
        with self._place.lock():
            self._place.git.run("update-ref", ref, commit)
        return ref

    def send(self, commit: str, copy: str, lease: str | None = None) -> Sent:
        """Push a commit as this copy's own; with a lease, as the branch that all share, too.

        Args:
            commit: it descends from what the lease names.
            copy: the id of this copy.
            lease: what the branch is there, empty for none; somebody else's push is not undone.

        Raises:
            RemoteError: it cannot be reached, or refuses the branch.
        """
        own, main = f"{COPIES}/{copy}", self._place.ref
        how, refs = [self._receive] if self._receive else [], [f"+{commit}:{own}"]
        if lease is not None:
            how.append(f"--force-with-lease={main}:{lease}")
            refs.append(f"{commit}:{main}")
        done = self._call("push", "--porcelain", *how, self._remote.url, *refs)
        rows = [line.split("\t") for line in decode(done.out).splitlines() if "\t" in line]
        told = {row[1].partition(":")[2]: (row[0], row[-1]) for row in rows if len(row) > 2}
        if own not in told:
            raise describe_failure(self._remote.name, done.err)
        refused = told[own][1] if told[own][0] == "!" else ""
        if lease is None:
            return Sent(False, refused)
        flag, why = told.get(main, ("!", "it was not pushed"))
        if flag == "!" and not any(word in why for word in _RACES):
            raise describe_failure(self._remote.name, done.err if why in done.err else why)
        return Sent(flag != "!", refused)

    def replace_history(self, copy: str) -> str:
        """Have a remote whose history was purged here take the history of this copy.

        Returns:
            Why it keeps its own; empty where it was replaced.

        Raises:
            RemoteError: it cannot be reached, or refuses.
        """
        main, ours = self.list_heads(copy).main, self._place.head
        if main and main != ours:
            old = self.fetch()
            if not self.descends(ours, old) and old not in pair_commits(self._git, old, ours):
                return "it has versions that are not here: purge in the copy that sent them"
        told = self._call("ls-remote", "--refs", *self._how, self._remote.url, f"{COPIES}/*")
        rows = (decode(row).partition("\t") for row in told.out.splitlines())
        # What each copy sent of itself is of the old history, too; each sends itself again.
        gone = [f":{ref}" for commit, _, ref in rows if ref != f"{COPIES}/{copy}"]
        own = [f"+{ours}:{COPIES}/{copy}", f"+{ours}:{self._place.ref}"]
        lease = f"--force-with-lease={self._place.ref}:{main}"
        how = [self._receive] if self._receive else []
        done = self._call("push", "--porcelain", *how, lease, self._remote.url, *own, *gone)
        if done.code != 0:
            raise describe_failure(self._remote.name, done.err)
        return ""

    def find_old_history(self) -> str:
        """Return why a remote still has what a purge here rewrote; empty where no ref names it.

        Raises:
            RemoteError: it cannot be reached.
        """
        told = self._call("ls-remote", "--refs", *self._how, self._remote.url)
        if told.code != 0:
            raise describe_failure(self._remote.name, told.err)
        rows = (decode(row).partition("\t") for row in told.out.splitlines())
        heads = {ref: commit for commit, _, ref in rows}
        types = find_types(self._place.git, heads.values())
        main = heads.get(self._place.ref, "")
        if main and types[main] == "missing":
            old = self.fetch()
            if not self.shares_history(old) or self.has_rewritten(old):
                return "its branch has the history from before"
            types = {**types, **find_types(self._git, heads.values())}
        apart = [ref for ref, commit in heads.items() if types[commit] == "missing"]
        return f"it has versions that are not here: {', '.join(sorted(apart))}" if apart else ""

    def count_foreign(self, *, clear: bool = True) -> int | None:
        """Return how many objects of a folder are not ours; None for a server.

        Args:
            clear: destroy first what no ref there needs.
        """
        folder = find_folder(self._remote.url)
        if folder is None:
            return None
        there = Git(folder, folder)
        if clear:
            shutil.rmtree(folder / "logs", ignore_errors=True)
            there.run("repack", "-a", "-d", "-q")
            # What is loose now, nothing names; git's own command would run what its settings name.
            for left in (folder / "objects").glob("[0-9a-f][0-9a-f]/*"):
                left.unlink()
        listed = there.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        known = self._place.git.run("cat-file", "--batch-check", "--buffer", feed=listed)
        return sum(row.endswith(b" missing") for row in known.splitlines())

    def _call(self, *arguments: str) -> Result:
        try:
            return call_remote(self._git, self._folder, self._deadline, *arguments)
        except TimeoutError as error:
            raise late_remote(self._remote.name, self._deadline) from error


def clone_branch(git: Git, folder: Path, remote: Remote, ref: str, deadline: Deadline) -> None:
    """Give a new repository a branch of a remote, with its history, as its current one.

    Args:
        git: the repository.
        folder: of it.
        remote: whose branch.
        ref: the branch.
        deadline: when the call ends.

    Raises:
        RemoteError: it cannot be reached, or what it sends is damaged.
    """
    upload, _ = local_programs(remote.url)
    how = ("-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--update-head-ok")
    where = (upload, remote.url) if upload else (remote.url,)
    try:
        done = call_remote(git, folder, deadline, "fetch", *how, *where, f"+{ref}:{ref}")
    except TimeoutError as error:
        raise late_remote(remote.name, deadline) from error
    if done.code != 0:
        raise describe_failure(remote.name, done.err)
    git.run("symbolic-ref", "HEAD", ref)
    git.run("read-tree", ref)
