"""The store: the one way files of a memory are read and written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime
from errno import EACCES, EPERM, EROFS
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from kimi_memory.domain.ids import new_id, utcnow
from kimi_memory.domain.job import Actor, Append, Change, Effect, digest
from kimi_memory.errors import ChangedOnDiskError, MovedError, ReadOnlyError
from kimi_memory.store.files.disk import Disk, refusal, translate_refusals
from kimi_memory.store.files.locks import Locks, owner
from kimi_memory.store.files.paths import DEPLOYED, paths_of
from kimi_memory.store.files.tree import Place, Tree, check_view
from kimi_memory.store.shipping import Shipping
from kimi_memory.store.wal import records, transaction
from kimi_memory.store.wal.commit_files import DELETED_SECONDS, GRACE_SECONDS, plan
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.reconcile import External, Progress, Reconciler
from kimi_memory.store.wal.records import Entry, Provenance
from kimi_memory.store.wal.transaction import NO_WAITING, Intent, Transactions

_REFUSED = frozenset({EROFS, EACCES, EPERM})


class Receipt(NamedTuple):
    """What `Store.apply` did; all of it is durable."""

    id: str
    effects: tuple[Effect, ...] = ()
    kept: tuple[str, ...] = ()
    """Conflict copies, made where somebody else saved a file at the same moment."""


class Store(Shipping):
    """The files of one memory. Make one with `Store.open`.

    It may be used by many threads; other processes may have the same memory open.
    """

    def __init__(
        self, tree: Tree, key: bytes, clock: Callable[[], datetime], timeout_seconds: float
    ) -> None:
        self._locks = Locks(tree, timeout_seconds)
        super().__init__(tree, Journal(tree, self._locks, key, clock))
        self._clock = clock
        self._transactions = Transactions(tree, self.journal, clock)
        self._recovery = transaction.Recovery(tree, self._locks, self.journal, self._transactions)

    @cached_property
    def reconciler(self) -> Reconciler:
        """What compares the folder with what was last seen and written."""
        return Reconciler(
            self._tree, self._locks, self.journal, self.view, self.folder_scan.look,
            judge=self._judge_entry, note=self._note_outside,
        )  # fmt: skip

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        key: bytes,
        clock: Callable[[], datetime] = utcnow,
        timeout_seconds: float = 30.0,
        disk: Disk | None = None,
    ) -> Store:
        """Open the memory in a folder and finish what a crash left undone.

        Args:
            root: the folder; it must exist.
            key: secret of this machine, under which the journal is signed.
            clock: where the time comes from.
            timeout_seconds: longest wait for a lock.
            disk: the system calls to use.

        Raises:
            DiskError: the folder cannot be opened, or the disk failed.
            LockTimeoutError: somebody holds the store alone.
        """
        try:
            tree = Tree(root, disk or Disk())
        except OSError as error:
            raise refusal(str(root), error) from error
        store = cls(tree, key, clock, timeout_seconds)
        with ExitStack() as otherwise:
            otherwise.callback(store.close)
            store._start_store()
            otherwise.pop_all()
        return store

    def close(self) -> None:
        """Close the folder; nothing is pending, as every write is durable when it returns."""
        self._locks.close()
        self.journal.close()
        self._tree.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def apply(
        self,
        changes: Sequence[Change],
        actor: Actor,
        *,
        subject: str = "",
        waiting: Mapping[str, Provenance] = NO_WAITING,
    ) -> Receipt:
        """Carry out all changes or none; they are durable when this returns.

        Where somebody saves one of the files at the same moment, theirs stays in
        place and ours is kept under ``conflicts/``.

        Args:
            changes: what is to be written.
            actor: on whose behalf.
            subject: names the work for others who wait for it.
            waiting: of paths whose new content waits for a person's word, where it comes from.

        Raises:
            ChangedOnDiskError: a file is not what a change was made for; nothing was done.
            UnsafePathError: a path is not safe; nothing was done.
            DiskError: the system refused; the old bytes are there.
            ReadOnlyError: the store takes no writes.
        """
        paths = paths_of(changes)
        id = new_id("txn", self._clock())

        def prepare() -> Intent:
            steps = plan(self._tree, changes, self._time_stamp())
            return Intent(id, tuple(steps), actor, waiting)

        with self._lock_for_writing(paths, op=subject or f"apply for {actor.name}", whole=True):
            if self.relay is None or (relay := self._find_relay(paths)) is None:
                return self._place(prepare())
            receipt = relay.apply(prepare, self._place)
            if receipt.kept:
                self.note_edits(paths)
            return receipt

    def append(
        self, path: str, lines: Sequence[bytes], actor: Actor, *, sync: bool = True, at: int = -1
    ) -> None:
        """Add whole lines to the end of a file, durably; the file is made if need be.

        The quick way for turns: one write and one sync, or none for what is no promise.
        The journal's record of it is not synced for itself. On a node of a cluster, `at` is the
        size that the file must have for that.

        Raises:
            DiskError: the system refused; nothing was added.
            ReadOnlyError: the store takes no writes.
        """
        paths = paths_of([Append(path, tuple(lines))])
        if not records.check_lines(lines):
            return
        self._check_writable()
        with self._translate_errors(path), self._locks.writing(paths, op="append"):
            place = self._tree.spot(path, make=True)
            add = partial(self._append_lines, place, path, lines, actor)
            relay = self._find_relay([path]) if sync and self.relay is not None else None
            if relay is None:
                add(sync=sync)
            else:
                find_end = partial(self._look_at_end, place, path)
                relay.append(path, lines, actor, find_end=find_end, place=add, at=at)

    def view(self, path: str, content: bytes) -> None:
        """Replace a file that is derived from others; not durable, not journaled.

        Raises:
            StoreError: the path holds truth.
        """
        check_view(path, "it is changed by 'apply'")
        with self._lock_for_writing([], op="view"):
            self._tree.write_view(path, content, f"{new_id('view', self._clock())}.{owner()}.part")

    def unview(self, path: str) -> None:
        """Remove a file that is derived from others, if it is there.

        Raises:
            StoreError: the path holds truth.
        """
        check_view(path, "it is removed by 'apply'")
        with self._lock_for_writing([], op="view"):
            self._tree.remove_view(path)

    def reconcile(self, progress: Progress = lambda done, total: None) -> list[External]:
        """Return, and journal, what was changed in the folder from outside; tell how far it is."""
        with self._translate_errors("the memory folder"):
            self._check_writable()
            if self.relay is not None and not self.relay.leads():
                return []  # It is found once this node leads, or put aside by what others write.
            return self.reconciler.run(progress)

    def note_edits(self, paths: Sequence[str]) -> None:
        """Ship and journal what somebody changed in some files, whose locks the caller holds."""
        self.reconciler.note(paths)

    def seen_mark(self, path: str) -> str:
        """Return the hash a file had at the last comparison of the folder, empty if unknown."""
        return self.reconciler.seen_mark(path)

    def confirm(self, seen: Mapping[str, str], actor: Actor) -> None:
        """Journal a person's word that files from outside count as they stand.

        Their times are renewed, so that whatever was derived from them is derived anew.

        Args:
            seen: the hash of each file as the person saw it, by path.
            actor: on whose behalf.

        Raises:
            ChangedOnDiskError: a file is not what they saw; nothing was noted.
            ReadOnlyError: the store takes no writes.
        """
        with self._lock_for_writing(sorted(seen), op="confirm"):
            for path, base in seen.items():
                if digest(self._tree.read(path)) != base:
                    raise ChangedOnDiskError(path)
            entries = [Entry("confirmed", *one, one[1]) for one in seen.items()]
            note = partial(self.journal.add, entries, actor)
            if self.relay is None:
                note()
            else:
                self.relay.confirm(seen, actor, lambda txn: note(txn=txn))
            for path in seen:
                with self._tree.place(path) as place:
                    # The index and all caches know a file by its time; its content stays the same.
                    os.utime(place.name, dir_fd=place.folder, follow_symlinks=False)

    def drop_undo(
        self,
        grace_seconds: float = GRACE_SECONDS,
        deleted_seconds: float = DELETED_SECONDS,
    ) -> tuple[str, ...]:
        """Remove replaced and deleted bytes that were kept long enough.

        Bytes that an editor wrote after they were replaced go to ``conflicts/``;
        their paths are returned.
        """
        with self._lock_for_writing([], op="undo", alone=True):
            entries = self._transactions.keeper.drop(grace_seconds, deleted_seconds)
            self.journal.add(entries, transaction.STORE)
        return tuple(entry.path for entry in entries)

    def holding(self, path: str) -> AbstractContextManager[None]:
        """Let nobody else write to a file, so that what is read of it stays so.

        Writes to that file may be made inside; others must wait until the end.

        Raises:
            LockTimeoutError: somebody else wrote to it all the time.
            ReadOnlyError: the store takes no writes.
        """
        self._check_writable()
        return self._locks.writing([path], op="append", place=path)

    def lock(
        self, name: str, *, shared: bool = False, timeout_seconds: float | None = None
    ) -> AbstractContextManager[None]:
        """Hold a named lock of this memory, such as ``job``, ``git`` or ``index``.

        The thread that holds it may take it again.

        Raises:
            LockTimeoutError: somebody else held it all the time; they are named.
        """
        return self._locks.hold(
            name, shared=shared, timeout_seconds=timeout_seconds, place=str(self.root)
        )

    def clear_read_only(self) -> None:
        """Take writes again, after the disk was checked; unfinished work is finished first."""
        with self._translate_errors(str(self.root)):
            self._tree.remove_mark()
        self.read_only = ""
        self._start_store(force=True)

    def _start_store(self, *, force: bool = False) -> None:
        try:
            self._tree.make_private()
            self.read_only = self._tree.read_mark()
            if not self.read_only:
                self.journal.start()
                self._recover_if_due(force=force)
                self._recovery.mend_tails(self._time_stamp())
        except OSError as error:
            # A memory that cannot be written can still be read and searched.
            if error.errno not in _REFUSED:
                raise refusal(str(self.root), error) from error
            self.read_only = f"{error.strerror} ({self.root})"

    def _recover_if_due(self, *, force: bool) -> None:
        if force or self._recovery.is_due():
            with self._locks.hold("store", op="recovery"):
                self._recovery.run()

    def _time_stamp(self) -> str:
        return f"{self._clock():%Y%m%dT%H%M%SZ}"

    @contextmanager
    def _lock_for_writing(
        self, paths: Sequence[str], *, op: str, alone: bool = False, whole: bool = False
    ) -> Iterator[None]:
        """Hold what a write needs, and translate what the system says."""
        with self._translate_errors(paths[0] if paths else str(self.root)):
            self._check_writable()
            if whole:
                # Before a new transaction: one that a dead process left may hold the same files.
                self._recover_if_due(force=self._transactions.owes)
            with self._locks.writing(paths, op=op, alone=alone):
                yield

    def _check_writable(self) -> None:
        alone = self.relay is None and not self._is_apart
        if alone and os.access(DEPLOYED, os.F_OK, dir_fd=self._tree.fd):
            raise ReadOnlyError("it was shared with other machines meanwhile; open it anew")
        if self.read_only:
            raise MovedError(self.moved) if self.moved else ReadOnlyError(self.read_only)

    def _translate_errors(self, path: str) -> AbstractContextManager[None]:
        return translate_refusals(path, self._stop_writes)

    def _stop_writes(self, why: str) -> None:
        """Take no more writes, in this process and, if the disk lets us say so, in others."""
        self.read_only = why
        self._tree.write_mark(why)

    def _place(self, intent: Intent) -> Receipt:
        if not intent.steps:
            return Receipt(intent.id)
        outcome = self._transactions.run(intent)
        return Receipt(intent.id, tuple(outcome.effects), outcome.kept)

    def _look_at_end(self, place: Place, path: str) -> tuple[int, bytes]:
        """Return size and last line of a file as it will be added to; nothing of no file."""
        try:
            fd = self._tree.open_file(place, os.O_RDWR | os.O_APPEND, path)
        except FileNotFoundError:
            # The first line of a file may begin anywhere: it begins at nothing.
            return 0, b""
        try:
            return self._find_sound_end(fd, path)
        finally:
            self._disk.close(fd)

    def _append_lines(
        self,
        place: Place,
        path: str,
        lines: Sequence[bytes],
        actor: Actor,
        txn: str = "",
        *,
        sync: bool = True,
    ) -> None:
        disk, flags, added = self._disk, os.O_RDWR | os.O_APPEND, b"".join(lines)
        try:
            fd, new = self._tree.open_file(place, flags, path), False
        except FileNotFoundError:
            self._tree.refuse_twin(place, path)
            fd, new = self._tree.open_file(place, flags | os.O_CREAT | os.O_EXCL, path), True
        size = -1
        try:
            size, line = (0, b"") if new else self._find_sound_end(fd, path)
            records.append_whole(disk, fd, added, size, sync=sync)
            if new:
                disk.fsync(place.folder)
            marks = records.mark(line, size), records.mark(lines[-1], size + len(added))
            self.journal.add([Entry("append", path, *marks)], actor, txn=txn, sync=False)
        except OSError:
            if size >= 0:
                # Half a line must not stay: the next append would join it.
                records.cut_back(disk, fd, size)
            if new:
                self._tree.discard(place)
            raise
        finally:
            disk.close(fd)

    def _find_sound_end(self, fd: int, path: str) -> tuple[int, bytes]:
        # The stamp costs as much as the look, and is needed once in a crash.
        found = records.sound_end(self._disk, fd, path)
        return found or records.repair_tail(self._tree, fd, path, self._time_stamp())
