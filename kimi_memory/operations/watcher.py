"""Watching a memory: whatever an editor, a sync tool or git changes is searchable soon.

What the system reports is a hint and nothing more: reports get lost, and a folder that
is new when it is reported may hold files that never will be. So every batch of hints
leads to a look at the whole folder, which costs a stat a file, and so does silence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from kimi_memory.config import MARKER
from kimi_memory.errors import KimiMemoryError, NotAMemoryError, ReadOnlyError, StoreError
from kimi_memory.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from watchfiles import Change

    from kimi_memory.api.memory import Memory

    Reported = set[tuple[Change, str]]

LOCK = "watch"
SETTLE_MS = 1500
"""How long it must be quiet before the changes so far are taken as one batch …"""
PATIENCE = 10
"""… which happens after so many times as long where it never is."""
EVERY_SECONDS = 300.0
"""A look at the whole folder after so long without a hint."""
TICK_MS = 1000
"""How often silence is noticed."""
HINT_MS = 100
"""How long the system gathers changes before it reports them."""
LOOK_SECONDS = 10.0
"""What nobody reports is looked for so often, behind all questions."""
SHARE = 200
"""… or more seldom, so that looking takes no more than one second of so many."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one look found."""

    at: datetime
    cause: str
    """``start``, ``change``, or ``interval`` after a silence."""
    changed: tuple[str, ...] = ()
    """Files that somebody else changed, since the last look."""
    added: int = 0
    """Units that the index gained."""
    removed: int = 0
    """Files whose units were taken out of it."""
    units: int = 0
    """Units in the index now."""
    broken: tuple[str, ...] = ()
    """Files that cannot be parsed, each with its reason."""
    trouble: str = ""
    """Why nothing could be done this time; the next look tries again."""


def watch(
    memory: Memory, stop: Event, *, settle_ms: int = SETTLE_MS, every_seconds: float = EVERY_SECONDS
) -> Generator[Batch]:
    """Keep the index of a memory up to date until asked to stop; yields what each look found.

    Args:
        memory: an open memory; nobody else may watch it meanwhile.
        stop: ends the watch when it is set, at most a moment later.
        settle_ms: changes are one batch until it was quiet for so long.
        every_seconds: after so long without a hint the folder is looked at anyway.

    Raises:
        LockTimeoutError: somebody watches this memory already; who is named.
        ReadOnlyError: the folder takes no writes, so its index cannot be kept.
    """
    if memory.store.read_only:
        raise ReadOnlyError(memory.store.read_only)
    with memory.store.lock(LOCK, timeout_seconds=0):
        yield _refresh_index(memory, "start")
        for cause in _yield_hints(memory.root, stop, settle_ms, every_seconds):
            batch = _refresh_index(memory, cause)
            # A look that found nothing is nothing to report.
            if batch.changed or batch.added or batch.removed or batch.trouble:
                yield batch


@contextmanager
def keep_index_informed(memory: Memory) -> Iterator[None]:
    """Inform the index of a memory of what changes, so that no question looks at all files.

    For a process that is asked now and then: after a pause it would look at every file
    first. What the system does not report is found in a thread, by a look at the whole
    folder from time to time; where the system reports nothing, questions look for themselves.

    Args:
        memory: an open memory that stays so until the end of the block; others may watch it too.
    """
    stop = Event()
    thread = Thread(target=_feed_index_hints, args=(memory, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _feed_index_hints(memory: Memory, stop: Event) -> None:
    index, due, identity = memory.index, time.monotonic(), _folder_identity(memory.root)
    try:
        for found in _yield_changes(memory.root, stop, TICK_MS):
            if _folder_identity(memory.root) != identity:
                return  # What is watched is not the memory any more.
            paths = [Path(path).relative_to(memory.root).as_posix() for _, path in found]
            index.hint(paths)
            memory.store.folder_scan.hint(paths)
            began = time.monotonic()
            # Who opens a large memory waits twice as long for two that look at once.
            if began >= due + LOOK_SECONDS * memory.store.folder_scan.is_held:
                index.scan_files()
                pause = max(LOOK_SECONDS, SHARE * (time.monotonic() - began))
                # Longer than the pause: if this thread dies, questions look for themselves again.
                index.trust(2 * pause)
                memory.store.folder_scan.trust(2 * pause)
                due = time.monotonic() + pause
    except (KimiMemoryError, OSError):
        return  # The folder is gone, or the system has no watches left.
    finally:
        index.trust(0.0)
        memory.store.folder_scan.trust(0.0)


def is_watched(root: Path, path: str) -> bool:
    """Whether a change there may concern recall: not of git, and not of what we keep aside."""
    try:
        parts = Path(path).relative_to(root).parts
    except ValueError:
        # Links may lead to places outside of the memory.
        return False
    return not any(part.startswith(".") for part in parts)


def _yield_hints(root: Path, stop: Event, settle_ms: int, every_seconds: float) -> Iterator[str]:
    """Yield the cause whenever it is time to look."""
    while not stop.is_set():
        # The folder is renamed or replaced: it is looked for again until somebody stops us.
        with suppress(FileNotFoundError):
            yield from _hints_of(root, stop, settle_ms, every_seconds)
        # The folder was moved away; when another stands there, that one is watched.
        stop.wait(TICK_MS / 1000)


def _hints_of(root: Path, stop: Event, settle_ms: int, every_seconds: float) -> Iterator[str]:
    """Yield the hints of one folder until another stands in its place."""
    # The first look was before the system began to report.
    identity, looked, again = _folder_identity(root), time.monotonic(), True
    for found in gather_until_quiet(_yield_changes(root, stop, settle_ms // 4), settle_ms):
        silence = time.monotonic() - looked
        if found or again or silence >= every_seconds:
            # Once more when it is quiet: what a new folder got before it was watched.
            cause, again = "change" if found or again else "interval", bool(found)
            looked = time.monotonic()
            yield cause
        if _folder_identity(root) != identity:
            yield "change"
            return


def gather_until_quiet(
    reports: Iterable[Reported], settle_ms: int, clock: Callable[[], float] = time.monotonic
) -> Iterator[Reported]:
    """Yield reports once it has been quiet, and an empty set at every tick of silence.

    The system's own gathering ends at its first pause, and sees no second write of one file.
    """
    gathered: Reported = set()
    first = last = 0.0
    for found in reports:
        now = clock()
        if found:
            first, last = first if gathered else now, now
            gathered |= found
        quiet = (now - last) * 1000 >= settle_ms
        if not gathered or quiet or (now - first) * 1000 >= PATIENCE * settle_ms:
            yield gathered
            gathered = set()


def _yield_changes(root: Path, stop: Event, tick_ms: int) -> Iterator[Reported]:
    """Yield what the system reports, and an empty set at every tick without a report."""
    from watchfiles import watch as reports

    try:
        yield from reports(
            root,
            watch_filter=lambda _, path: is_watched(root, path),
            debounce=HINT_MS,
            stop_event=stop,
            rust_timeout=min(TICK_MS, max(HINT_MS, tick_ms)),
            yield_on_timeout=True,
            raise_interrupt=False,
            # One folder without rights must not end the watch of all others.
            ignore_permission_denied=True,
        )
    except RuntimeError as error:
        raise StoreError(
            f"The system cannot watch {root}: {error}. "
            "Raise its limit of watches, or run 'kimi-memory index' now and then."
        ) from error


def _folder_identity(root: Path) -> tuple[int, int]:
    """Return what tells a folder from another that took its name."""
    try:
        found = root.stat()
    except OSError:
        # As no folder looks, so that one which comes back counts as another.
        return (0, 0)
    return found.st_dev, found.st_ino


def _refresh_index(memory: Memory, cause: str) -> Batch:
    """Take over what others changed, and bring the index up to date."""
    changed: tuple[str, ...] = ()
    if not (memory.root / MARKER).is_file():
        return Batch(memory.clock(), cause, trouble=str(NotAMemoryError(memory.root)))
    try:
        changed = tuple(sorted({one.path for one in memory.store.reconcile()}))
        trouble = _take_edits(memory) if changed else ""
        report = memory.index.refresh()
    except (StoreError, OSError) as error:
        # Somebody is busy: the next look finds the same again.
        return Batch(memory.clock(), cause, changed, trouble=str(error))
    broken = tuple(f"{path}: {why}" for path, why in report.broken)
    found = (report.added, report.removed, report.units, broken, trouble)
    return Batch(memory.clock(), cause, changed, *found)


def _take_edits(memory: Memory) -> str:
    """Let cards follow what a person changed on pages; return why that has to wait."""
    try:
        # Before the edits: what git merged is nobody's edit.
        memory.repair_merges()
        memory.take_edits()
    except KimiMemoryError as error:
        return str(error)
    return ""
