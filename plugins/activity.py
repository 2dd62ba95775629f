"""A log of what the memory does.

Why it exists: a memory that works unattended must be able to say what it did. Its table in
your own config.toml switches it on: it logs to ``kimi_memory.activity`` at level INFO, and to
a file if you name one, which is kept small::

    [plugins.activity]
    file = "~/.local/state/kimi_memory/activity.log"
    kilobytes = 1024    # a fuller file becomes activity.log.1 …
    files = 3           # … and so many old ones are kept
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_memory import hookimpl
from kimi_memory.llm.remote.settings import Choices

if TYPE_CHECKING:
    from kimi_memory.domain.agent_run import Usage
    from kimi_memory.domain.job import Job
    from kimi_memory.domain.search_types import Hit, Query
    from kimi_memory.domain.session import Session

NAME = "kimi_memory.activity"
SETTINGS = ("file", "kilobytes", "files")
"""What may stand in ``[plugins.activity]``."""


def create(settings: Mapping[str, Any]) -> Activity:
    """Make the plugin from the user's settings."""
    choices = Choices("activity", settings)
    file = choices.text("file")
    limit, kept = choices.whole("kilobytes", 1024) * 1024, choices.whole("files", 3)
    return Activity(LogFile(Path(file).expanduser(), limit, kept) if file else None)


class LogFile:
    """A file of lines that several processes append to, and that is renamed when it is full."""

    def __init__(self, path: Path, limit: int, kept: int) -> None:
        self._path, self._limit, self._kept = path, limit, kept

    def write(self, line: str) -> None:
        """Append a line; a log that cannot be written is no reason to fail."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            while not self._try_append(line):
                pass
        except OSError:
            return

    def _try_append(self, line: str) -> bool:
        """Append under a lock; False where another process renamed the file meanwhile."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        fd = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            # The lock came after another process had renamed the file: this is the old one.
            if not os.path.samestat(os.fstat(fd), self._path.stat()):
                return False
            os.write(fd, line.encode("utf-8", "replace"))
            if os.fstat(fd).st_size >= self._limit:
                self._rotate_files()
        except FileNotFoundError:
            # Another process rotated the files at the same moment: the next try opens the new one.
            return False
        finally:
            os.close(fd)
        return True

    def _rotate_files(self) -> None:
        # From the oldest: each takes the name that the one before it has just left.
        for number in range(self._kept - 1, 0, -1):
            old = self._numbered_path(number)
            if old.exists():
                old.replace(self._numbered_path(number + 1))
        self._path.replace(self._numbered_path(1))

    def _numbered_path(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


class Activity:
    """Writes what happens to the log, and to the file if one is named."""

    def __init__(self, file: LogFile | None = None) -> None:
        self._file = file

    @hookimpl
    def memory_opened(self, root: Path) -> None:
        """Log which folder was opened."""
        self._log_message("opened %s", root)

    @hookimpl
    def session_ended(self, session: Session, turns: int) -> None:
        """Log which session ended and how long it was."""
        self._log_message("session %s ended with %d turns", session.id, turns)

    @hookimpl
    def changes_applied(self, paths: Sequence[str], job: Job | None) -> None:
        """Log what was written, and by which job."""
        who, some = job.id if job else "no job", ", ".join(paths[:5])
        self._log_message("%s wrote %d files: %s", who, len(paths), some)

    @hookimpl
    def recalled(self, query: Query, hits: Sequence[Hit]) -> None:
        """Log how many hits a query had; its words stay out of the log."""
        self._log_message("recall of %d characters had %d hits", len(query.text), len(hits))

    @hookimpl
    def metered(self, usage: Usage) -> None:
        """Log what a job or a run of an agent used of a model, if it asked one."""
        if usage.calls or usage.tokens_in or usage.tokens_out:
            self._log_message(
                "%s used %d tokens in and %d out of %s",
                usage.agent or usage.job, usage.tokens_in, usage.tokens_out, usage.model,
            )  # fmt: skip

    def _log_message(self, message: str, *values: object) -> None:
        logging.getLogger(NAME).info(message, *values)
        if self._file is not None:
            text = " ".join((message % values).split())
            self._file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {os.getpid()} {text}\n")
