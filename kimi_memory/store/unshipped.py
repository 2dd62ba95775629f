"""What a record says of files, and what somebody changed in them without a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from kimi_memory.domain.change_log import LoggedStep
from kimi_memory.domain.job import digest
from kimi_memory.store.files.paths import is_own
from kimi_memory.store.wal.commit_files import Step
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.records import Entry, is_mark, mark_of
from kimi_memory.store.wal.transaction import Intent


class Files(Protocol):
    """The files of a memory, and what was noted of them."""

    journal: Journal

    def seen_mark(self, path: str) -> str:
        """Return the hash a file had at the last comparison of the folder."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""

    def exists(self, path: str) -> bool:
        """Whether there is a file."""


def logged_steps(files: Files, intent: Intent) -> tuple[LoggedStep, ...]:
    """Return what a record says of a transaction."""
    return tuple(_logged_step(files, step, intent) for step in _shared(intent.steps))


def _shared(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps of files that are no copy's own."""
    return (step for step in steps if not is_own(step.path))


def _logged_step(files: Files, step: Step, intent: Intent) -> LoggedStep:
    waits = intent.waiting.get(step.to or step.path)
    content = step.content
    if step.kind == "move" and step.path.partition("/")[0] != step.to.partition("/")[0]:
        content = files.read(step.path)  # A folder that keeps one tier alone has no such file.
    return LoggedStep(
        step.kind, step.path, step.to, step.before, step.after, step.offset, step.mode,
        content, (waits.origin, waits.why, waits.vetted) if waits is not None else None,
    )  # fmt: skip


def find_unshipped(files: Files, steps: Sequence[Step]) -> list[str]:
    """Return the files that a plan stands upon and that somebody changed without a record."""
    return [step.path for step in _shared(steps) if not is_shipped(files, step.path, step.before)]


def is_shipped(files: Files, path: str, now: str) -> bool:
    """Whether the log has the content of a file, whose mark is given; empty for no file."""
    expected = files.journal.mark_of(path)
    if expected is None:
        # It was there before the journal; what it was then is known from the last comparison.
        expected = files.seen_mark(path) or now
    if expected == now:
        return True
    if not (expected and now) or is_mark(expected) == is_mark(now):
        return False
    content = files.read(path)
    return (mark_of(content) if is_mark(expected) else digest(content)) == expected


def edited_step(files: Files, entry: Entry) -> LoggedStep | None:
    """Return what a record says of an edit.

    None where the file changed once more since; or where a record that was carried out meanwhile
    explains it, as of a process of this node that died before it could note what it had written.
    """
    content, known = None, files.journal.mark_of(entry.path)
    if known == entry.after:
        return None
    if entry.after:
        content = files.read(entry.path) if files.exists(entry.path) else b""
        noted = known and known == (mark_of(content) if is_mark(known) else entry.after)
        if noted or digest(content) != entry.after:
            return None
    waits = (entry.origin, entry.why, entry.vetted) if entry.origin else None
    return LoggedStep(
        entry.op, entry.path, entry.was, entry.before, entry.after, content=content, waits=waits
    )
