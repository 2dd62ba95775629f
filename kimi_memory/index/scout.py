"""A scout: a process of its own looks at the folder while this one loads what recall needs.

For commands that answer one question and end: with 100,000 notes, asking for the state of
each file takes longer than all else together.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGKILL
from typing import TYPE_CHECKING

from kimi_memory.index.files import APART, CURRENT, INDEX, TABLE, traces
from kimi_memory.index.walker import read

if TYPE_CHECKING:
    from kimi_memory.index.seen import Seen

PIPE_BYTES = 1 << 20
"""The most that Linux gives to everybody."""
_SENT: dict[str, Scout] = {}


class Scout:
    """A walker that was sent into a folder.

    Args:
        root: the memory folder.
        environment: of the new process.

    Raises:
        OSError: no process could be started.
    """

    def __init__(self, root: str, environment: Mapping[str, str]) -> None:
        self.traces, self.table = traces(root), _table(root)
        walker = str(Path(__file__).with_name("walker.py"))
        command = [sys.executable, "-I", "-S", walker, root, self.table, *APART]
        pipes = [_pipe(), _pipe()]
        self._fds = [pipe[0] for pipe in pipes]
        files = [(os.POSIX_SPAWN_DUP2, pipe[1], at) for at, pipe in enumerate(pipes, 1)]
        try:
            self._pid = os.posix_spawn(sys.executable, command, environment, file_actions=files)
        except OSError:
            self._close()
            raise
        finally:
            for _, out in pipes:
                os.close(out)

    def report(self) -> Seen | None:
        """Wait for the walker; return what it saw, None where it failed."""
        contents = []
        while self._fds:
            with os.fdopen(self._fds.pop(0), "rb") as pipe:
                contents.append(pipe.read())
        self._end()
        return _seen(contents, self.table)

    def recall(self) -> None:
        """End the walker."""
        self._close()
        os.kill(self._pid, SIGKILL)
        self._end()

    def _close(self) -> None:
        while self._fds:
            os.close(self._fds.pop())

    def _end(self) -> None:
        with suppress(ChildProcessError):  # Where nobody wants to know of children, there is none.
            os.waitpid(self._pid, 0)


@contextmanager
def scouting(root: str | Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Have the first look at a folder inside of the block made by a scout.

    Args:
        root: the memory folder.
        environment: of the process that looks.
    """
    key = os.path.realpath(root)
    with suppress(OSError):  # Without a scout, the folder is looked at all the same.
        _SENT[key] = Scout(key, environment)
    try:
        yield
    finally:
        if scout := _SENT.pop(key, None):
            scout.recall()


def _pipe() -> tuple[int, int]:
    """Return a pipe that holds what is said of many files, so that no walker waits for us."""
    made = os.pipe()
    with suppress(AttributeError, OSError):  # As large as the system has it: it works all the same.
        fcntl.fcntl(made[0], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return made


def is_out(root: str) -> bool:
    """Whether a scout was sent that nobody heard yet."""
    return bool(_SENT) and os.path.realpath(root) in _SENT


def scouted(root: str) -> Seen | None:
    """Return what a scout saw; None where none was sent, or the memory was written meanwhile."""
    scout = _SENT.pop(os.path.realpath(root), None) if _SENT else None
    if scout is None:
        return None
    seen = scout.report()
    return seen if scout.traces == traces(root) else None


def _table(root: str) -> str:
    """Return the folder of the table that is in use, empty where there is none."""
    try:
        name = Path(root, INDEX, CURRENT).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return str(Path(root, INDEX, name, TABLE)) if name.replace("-", "").isalnum() else ""


def _seen(contents: list[bytes], table: str = "") -> Seen | None:
    """Return what a walker wrote, None where it did not come to its end."""
    from kimi_memory.index.seen import Seen

    try:
        pages, sessions, halves = read(contents[0])
        if halves > 1:
            others, further, _ = read(contents[1])
            pages = pages[0] + others[0], pages[1] + others[1]
            sessions = sessions[0] + further[0], sessions[1] + further[1]
    except ValueError:
        return None
    return Seen.of(pages, sessions, table)
