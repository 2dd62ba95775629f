"""Programs that an execution node started in a sandbox: followed, read from, ended."""

from __future__ import annotations

import codecs
import os
import select
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kimi_memory.domain.agent_run import Grant, RunSpec, Runtime
from kimi_memory.errors import UsageError
from kimi_memory.runs.exec_state import ExecState
from kimi_memory.runs.grants import LIMIT, NO_SANDBOX, GrantError

_LONGEST = 1024 * 1024
"""Bytes of each output in one answer; of what a call waited for the rest is cut, and said."""
_MOST = 32
"""So many programs a node keeps that were started and may be asked for."""


class Wish(NamedTuple):
    """A program to be started."""

    argv: tuple[str, ...]
    given: str = ""
    """What stands on its standard input."""
    seconds: float = 0.0
    """How long it may take; as long as it likes if 0."""


class Underway:
    """A program that was started, and may have ended meanwhile.

    Args:
        runtime: its sandbox.
        spec: how it is started.
        place: where its output lies; removed with it.
        seconds: how long it may take.
    """

    def __init__(
        self, runtime: Runtime, spec: RunSpec, place: TemporaryDirectory[str], seconds: float
    ) -> None:
        self._runtime, self._spec, self._place = runtime, spec, place
        self._lock, self._began = threading.Lock(), time.monotonic()
        self._started = runtime.start(spec)
        self._watched = os.pidfd_open(self._started.pid)
        self._bell = threading.Timer(seconds, self._end_late) if seconds else None
        self.code: int | None = None
        """Its exit code, negative for a signal; None while it runs."""
        self.late = False
        self.usage: Mapping[str, float] = {}
        if self._bell is not None:
            self._bell.daemon = True
            self._bell.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it ended, at most so long; say whether it did."""
        end = None if seconds is None else time.monotonic() + seconds
        poll = select.poll()
        while self.code is None:
            with self._lock:
                if self._is_over():
                    break
                poll.register(self._watched, select.POLLIN)
            left = None if end is None else max(0.0, end - time.monotonic())
            # Looked at again now and then: another thread may have seen the end first.
            poll.poll(min(1000.0, 1000.0 if left is None else left * 1000))
            if left == 0.0:
                with self._lock:
                    return self._is_over()
        return True

    def _is_over(self) -> bool:
        """See whether it ended, and what it used; the lock is held."""
        if self.code is None:
            pid, status, used = os.wait4(self._started.pid, os.WNOHANG)
            if pid:
                self.code = self._started.returncode = os.waitstatus_to_exitcode(status)
                os.close(self._watched)
                self.usage = {
                    "cpu_s": round(used.ru_utime + used.ru_stime, 3),
                    "wall_s": round(time.monotonic() - self._began, 3),
                    "rss_mb": used.ru_maxrss // 1024,
                }
                if self._bell is not None:
                    self._bell.cancel()
        return self.code is not None

    def _end_late(self) -> None:
        self.late = True
        self.end()

    def end(self) -> None:
        """End it where it still runs."""
        with self._lock:
            if not self._is_over():
                with suppress(ProcessLookupError):
                    # With its first process all of a sandbox ends.
                    os.killpg(self._started.pid, 9)
        self.wait()

    def read(self, out: int = 0, errors: int = 0) -> dict[str, Any]:
        """Return what it wrote after so many bytes of each output, and where to go on."""
        over = self.wait(0)
        said, next_out, more_out = _read_text(self._spec.stdout, out, over)
        warned, next_errors, more_errors = _read_text(self._spec.stderr, errors, over)
        return {
            "stdout": said, "stderr": warned, "cut": more_out or more_errors,
            "next": [next_out, next_errors],
        }  # fmt: skip

    def drop(self) -> None:
        """End it, and forget what it wrote."""
        self.end()
        self._place.cleanup()


def _read_text(path: Path, after: int, over: bool) -> tuple[str, int, bool]:
    """Return text, where it ends, and whether there is more; of whole letters while it grows."""
    with path.open("rb") as file:
        file.seek(after)
        content = file.read(_LONGEST + 1)
    cut = len(content) > _LONGEST
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(content[:_LONGEST], final=over and not cut)
    waiting = len(decoder.getstate()[0])
    return text, after + min(len(content), _LONGEST) - waiting, cut


class Programs:
    """The programs of a node.

    Args:
        runtime: the sandbox.
        state: which folder belongs to which run.
    """

    def __init__(self, runtime: Runtime, state: ExecState) -> None:
        self._runtime, self._state = runtime, state
        self._lock = threading.Lock()
        # A program ends with the thread that started it, and requests come in threads that end.
        self._starter = ThreadPoolExecutor(1)
        self._kept: dict[tuple[str, str], tuple[Grant, Underway]] = {}

    def start(self, grant: Grant, wish: Wish) -> Underway:
        """Start a program in the folder of its run.

        Raises:
            GrantError: there is no sandbox here, or it refuses what was granted.
        """
        place = TemporaryDirectory(prefix="kimi-call-")
        for name, text in (("in", wish.given), ("out", ""), ("err", "")):
            (Path(place.name) / name).write_text(text, encoding="utf-8")
        given, out, errors = (Path(place.name) / name for name in ("in", "out", "err"))
        env = {"HOME": self._runtime.inside, "LANG": "C.UTF-8"}
        spec = RunSpec(
            grant.run, wish.argv, env, self._state.find_work(grant.run), given, out, errors,
            grant.limits, bool(grant.network), grant.roots,
        )  # fmt: skip
        try:
            return self._starter.submit(
                Underway, self._runtime, spec, place, wish.seconds
            ).result()  # fmt: skip
        except UsageError as error:
            place.cleanup()
            raise GrantError(NO_SANDBOX, str(error)) from error

    def keep(self, grant: Grant, call: str, program: Underway) -> None:
        """Keep a program to be asked for.

        Raises:
            GrantError: so many run already; it is ended.
        """
        with self._lock:
            over = [key for key, (_, one) in self._kept.items() if one.wait(0)]
            for key in over[: max(0, len(self._kept) - _MOST + 1)]:
                self._kept.pop(key)[1].drop()
            room = len(self._kept) < _MOST
            if room:
                self._kept[grant.run, call] = grant, program
        if not room:
            program.drop()
            raise GrantError(LIMIT, f"{_MOST} programs run already")

    def find(self, run: str, call: str) -> Underway | None:
        """Return the program that a call of a run started; None where it is not known here."""
        found = self._kept.get((run, call))
        return found[1] if found else None

    def end_older(self, memory: str, epoch: int) -> None:
        """End what was started for a memory before this epoch: another node leads it by now."""
        with self._lock:
            old = [
                key
                for key, (grant, _) in self._kept.items()
                if grant.memory == memory and grant.epoch < epoch
            ]
            found = [self._kept.pop(key)[1] for key in old]
        for one in found:
            one.drop()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            found = [one for _, one in self._kept.values()]
            self._kept.clear()
        for one in found:
            one.drop()
        self._starter.shutdown()
