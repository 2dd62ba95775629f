"""The folder of a run: what is known of it, and what it wrote, also where its runner is dead.

It lies in the user's state directory, outside of every memory. An agent writes to a file and not
into a pipe: what it wrote before it was killed can be read after its runner was killed, too. The
runner holds a lock that dies with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kimi_memory.domain.agent_run import AgentRun
from kimi_memory.errors import AmbiguousIdError, NotFoundError
from kimi_memory.formats.json_values import plain, revive

KEPT_DAYS = 7
"""So long the output of a run that ended is kept on this machine."""


class RunFolder:
    """One run on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @classmethod
    def create(cls, state: Path, run: AgentRun, root: Path) -> RunFolder:
        """Make the folder of a new run and hold its lock."""
        found = cls(state / "runs" / run.id)
        found.path.mkdir(parents=True, mode=0o700)
        found.try_lock()
        (found.path / "memory").write_text(str(root), encoding="utf-8")
        found.save(run)
        return found

    @property
    def output(self) -> Path:
        """What the agent wrote to standard output."""
        return self.path / "out.log"

    @property
    def errors(self) -> Path:
        """What it wrote to standard error."""
        return self.path / "err.log"

    @property
    def root(self) -> Path:
        """The memory that it works with."""
        return Path((self.path / "memory").read_text(encoding="utf-8"))

    def save(self, run: AgentRun) -> None:
        """Keep what is known of the run."""
        # Written beside it and renamed, so that a reader never sees half of it.
        part = self.path / ".run.json"
        part.write_text(json.dumps(plain(run), ensure_ascii=False), encoding="utf-8")
        part.replace(self.path / "run.json")

    def load(self) -> AgentRun:
        """Return what is known of the run."""
        text = (self.path / "run.json").read_text(encoding="utf-8")
        found: AgentRun = revive(AgentRun, json.loads(text))
        return found

    def try_lock(self) -> bool:
        """Take the lock; False while its runner lives."""
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # A lock of the kernel and not a file with a process id, which may name another process
            # later.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._lock = handle
        return True

    def unlock(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def lend_folder(self) -> Path:
        """Make a passing folder for the agent; it is named here, so that a crash leaves none."""
        lent = tempfile.mkdtemp(prefix="kimi-run-")
        (self.path / "work").write_text(lent, encoding="utf-8")
        return Path(lent)

    def take_folder_back(self) -> None:
        """Remove the folder that was lent, if one was."""
        named = self.path / "work"
        if named.exists():
            shutil.rmtree(named.read_text(encoding="utf-8"), ignore_errors=True)
            named.unlink()

    def ask_to_stop(self) -> None:
        """Have the runner end the agent."""
        (self.path / "stop").touch()

    def is_to_stop(self) -> bool:
        """Whether somebody asked for that."""
        return (self.path / "stop").exists()

    def note_grant(self, until: str) -> None:
        """Keep until when the run may have an execution node do something."""
        (self.path / "grant").write_text(until, encoding="utf-8")

    def read_grant(self) -> str:
        """Return until when; empty where nothing was granted."""
        path = self.path / "grant"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def count_output(self) -> int:
        """Return how many bytes the agent wrote so far."""
        return sum(one.stat().st_size for one in (self.output, self.errors) if one.exists())

    def drop(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def list_folders(state: Path) -> Iterator[RunFolder]:
    """Yield the runs of this machine, oldest first; one that is just being made is left out."""
    root = state / "runs"
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if (path / "run.json").is_file():
            yield RunFolder(path)


def find_folder(state: Path, id: str) -> RunFolder:
    """Return a run by its id or the beginning of one.

    Raises:
        NotFoundError: there is none on this machine.
        AmbiguousIdError: several begin so.
    """
    names = [one.path.name for one in list_folders(state)]
    found = [name for name in names if name == id or name.startswith((id, f"run-{id}"))]
    # An empty id is the beginning of every run, and must not stop the only one.
    if not found or not id:
        raise NotFoundError("run", id)
    if len(found) > 1:
        raise AmbiguousIdError(id, found)
    return RunFolder(state / "runs" / found[0])


def drop_old(state: Path) -> None:
    """Remove what runs left that ended long ago."""
    for folder in list_folders(state):
        old = time.time() - (folder.path / "run.json").stat().st_mtime > KEPT_DAYS * 86400
        if old and folder.load().status == "stopped":
            folder.drop()
