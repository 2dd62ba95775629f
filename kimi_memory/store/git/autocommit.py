"""Batches: commits that follow behind the acknowledgement of writes."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory.config import HistoryTable
from kimi_memory.errors import HistoryError, KimiMemoryError, LockTimeoutError
from kimi_memory.store.files.disk import Stats, refusal

_SUBJECT = "Update memory"
log = logging.getLogger("kimi_memory.store.git.autocommit")

BATCH = "batch"
"""The lock of a shared memory that keeps batches from being committed amid a job."""


class Batch:
    """What was written since the last commit of a memory, by any process.

    ``.kimi/pending`` marks it: its content is the moment of the first write (in ns), its
    modification time that of the last. A flush sets the mark aside first, so a write
    during the commit starts a batch of its own.

    Args:
        root: the memory folder.
        commit: commits what there is under a subject and trailers, given how all files of
            truth look where that is known; returns the commit.
        table: whether there is history, and how long a batch may wait.
        clock: tells the time.
        trailers: gives the trailers of a commit when it is made.
        lock: keeps other processes from committing.
    """

    def __init__(
        self,
        root: Path,
        commit: Callable[[str, Mapping[str, str], Stats | None], str],
        table: HistoryTable,
        *,
        clock: Callable[[], datetime],
        trailers: Callable[[], Mapping[str, str]],
        lock: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._commit, self._clock, self._trailers, self._lock = commit, clock, trailers, lock
        self._enabled = table.git
        self._quiet, self._max = table.quiet_seconds, table.max_seconds
        self._mark = root / ".kimi" / "pending"
        self._aside = self._mark.with_name("pending-flush")
        self._retry_after: datetime | None = None
        self._flushing = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self) -> None:
        """Note that something was written."""
        if not self._enabled:
            return
        moment = int(self._clock().timestamp() * 1_000_000_000)
        # What was written is durable; without the mark it is committed with what comes next.
        with suppress(OSError):
            try:
                os.utime(self._mark, ns=(moment, moment))
            except FileNotFoundError:
                self._begin_batch(moment)

    def pending(self) -> bool:
        """Whether something was written that is not committed."""
        return self._mark.exists() or self._aside.exists()

    def due(self) -> bool:
        """Whether the batch should be committed now."""
        now = self._clock()
        if self._retry_after is not None and now < self._retry_after:
            return False
        return self._aside.exists() or self._is_ripe(now)

    def flush(self, subject: str = "", looks: Callable[[], Stats | None] = lambda: None) -> str:
        """Commit the batch; return the commit, an empty string when nothing changed.

        Args:
            subject: first line of the message.
            looks: tells how all files of truth look; None when nobody knows for sure.

        Raises:
            HistoryError: git refused; the batch stays pending.
            DiskError: the system refused; the batch stays pending.
        """
        with self._flushing:
            return self._flush_batch(subject, looks)

    def _flush_batch(self, subject: str, looks: Callable[[], Stats | None]) -> str:
        try:
            self._set_aside()
            made = self._commit(subject or _SUBJECT, self._trailers(), looks())
        except (KimiMemoryError, OSError) as error:
            self._retry_after = _add_seconds(self._clock(), self._quiet)
            if not self._aside.exists():
                # Another process flushed meanwhile; it need not have seen our writes.
                self.note()
            if isinstance(error, OSError):
                raise refusal(str(self._mark), error) from error
            raise
        self._retry_after = None
        self._aside.unlink(missing_ok=True)
        return made

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Have no process commit a batch meanwhile, such as between files and their commit."""
        with self._flushing, ExitStack() as held:
            # A history that is busy all the time keeps nothing from being stored.
            with suppress(LockTimeoutError):
                held.enter_context(self._lock())
            yield

    def start(self) -> None:
        """Commit due batches in the background, until closed."""
        if self._thread is None and self._enabled:
            self._stop.clear()
            self._thread = threading.Thread(
                target=self._flush_periodically, name="history", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """End the background work; what is pending stays so."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _begin_batch(self, moment: int) -> None:
        self._mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._mark.write_bytes(b"%d" % moment)
        os.utime(self._mark, ns=(moment, moment))

    def _is_ripe(self, now: datetime) -> bool:
        span = _batch_span(self._mark)
        if span is None:
            return False
        first, last = span
        quiet, age = (now - last).total_seconds(), (now - first).total_seconds()
        # A clock that was set back must not keep a batch waiting for ever.
        return quiet >= self._quiet or age >= self._max or quiet < 0 or age < 0

    def _set_aside(self) -> None:
        try:
            self._mark.replace(self._aside)
        except FileNotFoundError:
            # Another process of this memory took the batch first.
            return

    def _flush_due(self) -> None:
        # What a job sets aside is due as well, and would take the job's own commit from it.
        with self._flushing:
            if self.due():
                self.flush()

    def _flush_periodically(self) -> None:
        while not self._stop.wait(max(0.02, min(1.0, self._quiet / 4))):
            try:
                self._flush_due()
            except HistoryError as error:
                log.warning("history is behind: %s", error)
            except KimiMemoryError as error:
                log.info("history waits: %s", error)


def _add_seconds(now: datetime, seconds: float) -> datetime:
    return datetime.fromtimestamp(now.timestamp() + seconds, UTC)


def _batch_span(mark: Path) -> tuple[datetime, datetime] | None:
    """Return first and last write of a batch; a damaged mark counts as ancient."""
    try:
        text, changed = mark.read_bytes(), mark.stat().st_mtime
    except (FileNotFoundError, NotADirectoryError):
        # Nothing waits to be committed.
        return None
    last = datetime.fromtimestamp(changed, UTC)
    try:
        return datetime.fromtimestamp(int(text) / 1_000_000_000, UTC), last
    except (ValueError, OverflowError, OSError):
        # Then it is committed at once: too early does no harm, too late might.
        return datetime.fromtimestamp(0, UTC), last
