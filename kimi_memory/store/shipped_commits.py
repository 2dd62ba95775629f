"""Commits of a deployed memory: in its log before the branch moves, and the same on every node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from kimi_memory.domain.change_log import LoggedCommit
from kimi_memory.domain.job import digest
from kimi_memory.errors import HistoryError, NotPrimaryError
from kimi_memory.store.files.paths import is_kept
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.head import BATCH
from kimi_memory.store.git.tree import Difference, blob_name
from kimi_memory.store.relay import Relay
from kimi_memory.store.store import Store
from kimi_memory.store.unshipped import is_shipped
from kimi_memory.store.wal.commit_files import CONFLICTS
from kimi_memory.store.wal.records import is_mark, mark_of


class CommitShipping:
    """Ships commits of one memory."""

    def __init__(self, store: Store, relay: Relay) -> None:
        self._store, self._relay = store, relay
        self.clean = -1
        """The last record after which all files were as the current commit has them."""

    @contextmanager
    def turn(self, *, whole: bool) -> Iterator[bool]:
        """Let nothing be written while a commit is made; give whether it is ours to make.

        Args:
            whole: the commit looks at all files; what was edited is shipped first.
        """
        if self._store.relay is None:
            if whole and not self._store.read_only:
                self._store.reconcile()
            yield True  # It is apart: what it makes reaches the others with a snapshot.
            return
        with ExitStack() as held:
            if whole:
                held.enter_context(self._store.lock(BATCH))
                if not self._store.read_only:
                    self._store.reconcile()
            held.enter_context(self._relay.turn())
            try:
                self._relay.lead()
            except NotPrimaryError:
                yield False
                return
            yield True
            if whole:
                self.clean = self._relay.position.place.seq

    def ship(
        self,
        git: Git,
        made: tuple[str, str],
        differences: Sequence[Difference],
        move: Callable[[], bool],
    ) -> bool:
        """Ship a commit, then move the branch to it; return whether it moved.

        Args:
            git: the repository that has its objects.
            made: its name, and that of its parent.
            differences: what it changes.
            move: moves the branch.
        """
        if self._store.relay is None:
            return move()
        commit, parent = made
        raw = git.run("cat-file", "commit", commit)
        carried = {one.path: self._read(git, one) for one in differences if self._is_carried(one)}
        files = tuple(
            (one.path, one.new.mode if one.new else "", one.new.blob if one.new else "")
            for one in differences
        )
        pack = b"" if _parents_of(raw) == [parent] else _make_pack(git, commit, parent)
        return self._relay.commit(LoggedCommit(commit, parent, raw, files, carried, pack), move)

    def _is_carried(self, one: Difference) -> bool:
        """Whether no earlier record brought a file's content, so that the commit must."""
        if one.new is None:
            return False
        if not is_kept(one.path) or one.path.startswith(f"{CONFLICTS}/"):
            return True
        content = self._store.read(one.path) if self._store.exists(one.path) else b""
        known = self._store.journal.mark_of(one.path)
        now = mark_of(content) if known and is_mark(known) else digest(content)
        if blob_name(content) != one.new.blob or not is_shipped(self._store, one.path, now):
            raise HistoryError(
                f"{one.path} was saved while it was committed. Retry; the commit is not lost."
            )
        return False

    def _read(self, git: Git, one: Difference) -> bytes:
        assert one.new is not None
        return git.run("cat-file", "blob", one.new.blob)


def _parents_of(raw: bytes) -> list[str]:
    lines = raw.partition(b"\n\n")[0].split(b"\n")
    return [line[7:].decode("ascii") for line in lines if line.startswith(b"parent ")] or [""]


def _make_pack(git: Git, commit: str, parent: str) -> bytes:
    """Return what git has of a commit and not of another one."""
    arguments = ("pack-objects", "--revs", "--thin", "--stdout", "--quiet")
    return git.run(*arguments, feed=f"{commit}\n^{parent}\n".encode())
