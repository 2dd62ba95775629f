"""The pool ``process``: workers of this machine, each a process that is replaced now and then.

Why it exists: a job over a thousand memories needs no engine where one machine can do it, and
must survive a memory that takes its worker along.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from kimi_memory import hookimpl
from kimi_memory.domain.fleet import Pool, PoolWish, Unit, UnitResult

_USES = 200
"""After so many memories a worker is replaced: what a library does not give back goes with it."""
# Enough to finish a write; after it the process is killed.
_GRACE_SECONDS = 5.0


@dataclass
class _Worker:
    process: BaseProcess
    line: Connection
    unit: Unit | None = None
    began: float = 0.0
    uses: int = 0


class ProcessPool:
    """Workers that are processes of this machine."""

    def __init__(self, wish: PoolWish) -> None:
        # Not forked: a copy of threads that hold locks may wait for ever.
        self._context = multiprocessing.get_context("spawn")
        self.workers, self._work = wish.workers, wish.work
        self._waiting: deque[Unit] = deque()
        self._crew: list[_Worker] = []

    def submit(self, unit: Unit) -> None:
        """Have a unit carried out as soon as a worker is free."""
        self._waiting.append(unit)
        self._hand_out()

    def wait(self) -> UnitResult:
        """Return the next result; one whose worker died, or took too long, has failed."""
        while True:
            busy = [one for one in self._crew if one.unit is not None]
            ready = wait([one.line for one in busy], _next_deadline(busy))
            for worker in busy:
                if worker.line in ready or _is_late(worker):
                    result = self._collect(worker)
                    self._hand_out()
                    return result

    def close(self) -> None:
        """End the workers."""
        for worker in self._crew:
            worker.line.close()  # They end when nothing more can come.
        for worker in self._crew:
            worker.process.join(_GRACE_SECONDS)
            _end(worker.process)
        self._crew.clear()

    def _hand_out(self) -> None:
        while self._waiting:
            free = next((one for one in self._crew if one.unit is None), None)
            if free is None and len(self._crew) >= self.workers:
                return
            free = free or self._start_worker()
            free.unit, free.began = self._waiting.popleft(), time.monotonic()
            with suppress(OSError):  # It died meanwhile, which is found when it is waited for.
                free.line.send(free.unit)

    def _start_worker(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._work), daemon=True)
        process.start()
        theirs.close()
        self._crew.append(_Worker(process, ours))
        return self._crew[-1]

    def _collect(self, worker: _Worker) -> UnitResult:
        unit, worker.unit = worker.unit, None
        assert unit is not None
        if _is_late(worker, unit) and not worker.line.poll():
            self._dismiss(worker)
            return UnitResult(unit, "failed", f"it took more than {unit.longest_s:g} s")
        try:
            result: UnitResult = worker.line.recv()
        except (EOFError, OSError):
            worker.process.join(_GRACE_SECONDS)
            why = f"its worker ended with code {worker.process.exitcode}"
            self._dismiss(worker)
            return UnitResult(unit, "failed", why)
        worker.uses += 1
        if worker.uses >= _USES:
            self._dismiss(worker)
        return result

    def _dismiss(self, worker: _Worker) -> None:
        self._crew.remove(worker)
        worker.line.close()
        _end(worker.process)


def _next_deadline(busy: list[_Worker]) -> float | None:
    """Return the longest wait; None where no program has a time limit."""
    ends = [one.began + one.unit.longest_s for one in busy if one.unit and one.unit.longest_s]
    return max(0.0, min(ends) - time.monotonic()) if ends else None


def _is_late(worker: _Worker, unit: Unit | None = None) -> bool:
    bound = (unit or worker.unit or Unit("", "", "", "", "")).longest_s
    return bool(bound) and time.monotonic() - worker.began >= bound


def _end(process: BaseProcess) -> None:
    process.kill()
    process.join()
    process.close()


def _serve(line: Connection, work: Callable[[Unit], UnitResult]) -> None:
    """Carry out one unit after the other, until nobody can send any more."""
    # The one who sent the work is gone: nobody hears the answer.
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            line.send(work(line.recv()))


@hookimpl(trylast=True)
def open_pool(name: str, wish: PoolWish) -> Pool | None:
    """Start processes of this machine."""
    return ProcessPool(wish) if name == "process" else None
