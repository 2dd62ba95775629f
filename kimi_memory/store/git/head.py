"""HEAD, as its files tell it: what is checked out, where it moved; and commits that are due.

All of it is read from files where they tell, as a call of git takes longer. Commits follow behind
the acknowledgement of writes, in batches.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.config import HistoryTable
from kimi_memory.errors import HistoryError, KimiMemoryError, LockTimeoutError
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats, put, refusal, state_of
from kimi_memory.store.files.paths import PRIVATE

if TYPE_CHECKING:
    from kimi_memory.store.git.command import Git

# Every command looks here, and most need no process of git.

_ON_BRANCH = re.compile(rb"ref: (refs/heads/[A-Za-z0-9_][A-Za-z0-9_-]*)\n")
"""What git writes as HEAD on a branch with a plain name."""
_COMMIT = re.compile(rb"([0-9a-f]{40})\n")

# Each movement costs a call of git.
_MOST = 200
"""So many of the last movements of HEAD are looked at."""
_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) .*?> (\d+) [+-]\d{4}\t?(.*)")
_HERE = re.compile(rb"kimi_memory: |clone:|[Bb]ranch:|commit(?: \((?:initial|amend)\))?:")
"""What moves HEAD without bringing anything: our commits, and a person's own."""
_WENT = re.compile(rb"(?:checkout|reset):")
_MERGED = b"commit (merge)"
UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")
"""Files that stand in a repository while a merge, or the like, is not finished."""

_MARK = f"{PRIVATE}/merges"
"""Names the last movement that was examined for merges; without it all are examined again."""

State = tuple[Stat, ...]
Movement = tuple[str, str, bool]
"""The commit HEAD was at, the one it was moved to, and whether a person settled a merge by it."""


def branch(git: Git) -> tuple[str, str]:
    """Return the current branch's ref, empty when detached, and its commit, empty before one."""
    if any(found := read_branch_file(git)):
        return found
    # One process tells both; `symbolic-ref` and `rev-parse` would be two.
    form = "--format=%(HEAD)%(refname)%00%(objectname)"
    for row in git.run("for-each-ref", form, "refs/heads").splitlines():
        if row.startswith(b"*"):
            ref, _, head = os.fsdecode(row[1:]).partition("\0")
            return ref, head
    return os.fsdecode(git.call("symbolic-ref", "-q", "HEAD").out.rstrip(b"\n")), ""


def folder_of(git: Git) -> Path:
    """Return the folder of a repository."""
    return git.folder or git.root / ".git"


def read_branch_file(git: Git) -> tuple[str, str]:
    """Return the same where files say it: the branch's own, or the list that `git gc` leaves.

    Asking git took a third of a sync that finds nothing new. Both are empty where git has to be
    asked.
    """
    folder = folder_of(git)
    try:
        named = _ON_BRANCH.fullmatch((folder / "HEAD").read_bytes())
        if not named or (folder / "commondir").exists():
            return "", ""
        ref = os.fsdecode(named[1])
        if not (folder / ref).exists() and not (folder / "packed-refs").exists():
            return ref, ""
        commit = _find_commit(folder, ref)
    except OSError:
        # Git keeps it elsewhere, such as in a worktree: the caller asks git.
        return "", ""
    return (ref, commit[1].decode("ascii")) if commit else ("", "")


def _find_commit(folder: Path, ref: str) -> re.Match[bytes] | None:
    try:
        return _COMMIT.fullmatch((folder / ref).read_bytes())
    except FileNotFoundError:
        # Git writes the list before it removes the file.
        listed = re.compile(rb"^([0-9a-f]{40}) %b$" % ref.encode("ascii"), re.MULTILINE)
        return listed.search((folder / "packed-refs").read_bytes())


def checked_out(git: Git) -> str:
    """Return the current commit, on a branch or not; empty before the first one."""
    return branch(git)[1] or git.call("rev-parse", "-q", "--verify", "HEAD").text


def blob_of(content: bytes) -> str:
    """Return the name git gives to the content of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324  git's own


def read_state(folder: Path) -> State:
    """Return what is another one after HEAD moved, or a merge began or went on."""
    return tuple(state_of(folder, name) or UNKNOWN for name in ("logs/HEAD", *UNDER_WAY, "index"))


# Asked at every start, so by files alone: a call of git takes as long as all of the rest.
def brought_nothing(folder: Path, since: float) -> bool:
    """Whether surely nothing came with commits since a moment of the system clock."""
    # A worktree or a submodule keeps its log elsewhere: there git has to be asked.
    try:
        is_folder = stat.S_ISDIR(os.lstat(folder).st_mode)
    except OSError:
        return True
    return is_folder and _is_quiet(folder, since, read_state(folder))


@lru_cache(maxsize=8)
def _is_quiet(folder: Path, since: float, _: State) -> bool:
    merging = any((folder / name).exists() for name in UNDER_WAY)
    return not merging and not any(True for _ in movements(folder, since))


def movements(folder: Path, since: float, *, merged: bool = False) -> Iterator[Movement]:
    """Yield the movements of HEAD that brought something, oldest first.

    Args:
        folder: of the repository.
        since: a moment of the system clock; earlier movements are left out.
        merged: leave out where a person went to another state.
    """
    known = [line for line in _read_head_log(folder) if int(line[3]) >= int(since)]
    known = [line for line in known if line[1].strip(b"0") and not _HERE.match(line[4])]
    known = [line for line in known if not (merged and _WENT.match(line[4]))]
    for line in known[-_MOST:]:
        yield line[1].decode(), line[2].decode(), line[4].startswith(_MERGED)


def head_at(folder: Path, moment: float) -> str:
    """Return the commit HEAD was at, at a moment of the system clock; empty if it is not known."""
    second = int(moment)  # Of what happened in that one, only a clone is sure to be older.
    log = [one for one in _read_head_log(folder) if int(one[3]) <= second]
    past = [one[2].decode() for one in log if int(one[3]) < second or one[4].startswith(b"clone:")]
    return past[-1] if past and past[-1].strip("0") else ""


def list_unexamined(root: Path, folder: Path, since: float) -> list[Movement]:
    """Return the movements of HEAD that brought something and were not examined.

    Args:
        root: the memory folder.
        folder: of its repository.
        since: a moment of the system clock; earlier movements are left out.
    """
    # Asked at every start: where nothing was ever pulled or merged, no note is read.
    if brought_nothing(folder, since):
        return []
    moved, mark = list(movements(folder, since)), _read_mark(root)
    known = [place for place, one in enumerate(moved) if one[1] == mark]
    return moved[known[-1] + 1 :] if known else moved


def note_examined(root: Path, commit: str) -> None:
    """Note that all merges up to a movement of HEAD to a commit were examined."""
    put(root / _MARK, f"{commit}\n".encode())


def _read_mark(root: Path) -> str:
    try:
        return (root / _MARK).read_bytes().decode("ascii", "replace").strip()
    except OSError:
        # Nothing was examined yet: all movements are.
        return ""


def _read_head_log(folder: Path) -> list[re.Match[bytes]]:
    try:
        lines = (folder / "logs" / "HEAD").read_bytes().splitlines()
    except OSError:
        # A repository without a log was never moved by anybody but us.
        return []
    return [found for line in lines if (found := _LINE.fullmatch(line))]


_SUBJECT = "Update memory"
log = logging.getLogger("kimi_memory.store.git.head")

BATCH = "batch"
"""The lock of a shared memory that keeps batches from being committed amid a job."""


class Batch:
    """What was written since the last commit of a memory, by any process.

    ``.kimi/pending`` marks it: its content is the moment of the first write (in ns), its
    modification time that of the last. A flush sets the mark aside first, so a write
    during the commit starts a batch of its own.

    Args:
        root: the memory folder.
        commit: commits the files on disk under a subject and trailers, given how all files of
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
