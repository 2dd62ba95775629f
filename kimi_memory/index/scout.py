"""A scout: a process of its own looks at the folder while this one loads what recall needs.

For commands that answer one question and end: with 100,000 notes, asking for the state of
each file takes longer than all else together.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGKILL
from typing import TYPE_CHECKING

from kimi_memory.index.files import APART, traces
from kimi_memory.index.walker import FORM

if TYPE_CHECKING:
    from kimi_memory.index.seen import Seen

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
        self.traces = traces(root)
        walker = str(Path(__file__).with_name("walker.py"))
        command = [sys.executable, "-I", "-S", walker, root, *APART]
        self._fd, out = os.pipe()
        files = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0)]
        try:
            self._pid = os.posix_spawn(sys.executable, command, environment, file_actions=files)
        except OSError:
            os.close(self._fd)
            raise
        finally:
            os.close(out)

    def report(self) -> Seen | None:
        """Wait for the walker; return what it saw, None where it failed."""
        with os.fdopen(self._fd, "rb") as pipe:
            content = pipe.read()
        self._end()
        return _seen(content)

    def recall(self) -> None:
        """End the walker."""
        os.close(self._fd)
        os.kill(self._pid, SIGKILL)
        self._end()

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


def is_out(root: str) -> bool:
    """Whether a scout was sent that nobody heard yet."""
    return os.path.realpath(root) in _SENT


def scouted(root: str) -> Seen | None:
    """Return what a scout saw; None where none was sent, or the memory was written meanwhile."""
    scout = _SENT.pop(os.path.realpath(root), None)
    if scout is None:
        return None
    seen = scout.report()
    return seen if scout.traces == traces(root) else None


def _seen(content: bytes) -> Seen | None:
    """Return what a walker wrote, None where it did not come to its end."""
    from kimi_memory.index.seen import Seen

    head = array(FORM)
    at = 3 * head.itemsize
    head.frombytes(content[:at] if len(content) >= at else bytes(at))
    pages, sessions, size = head
    count = pages + sessions
    if not content or len(content) != at + size + count * at:
        return None
    paths = os.fsdecode(content[at : at + size]).split("\0") if count else []
    return Seen.of(paths, pages, content[at + size :])
