"""Agents that are started before there is a task: it waits for no program to load its libraries.

One does one task and is gone, as any other: nothing of a task is there for the next one. It waits
on its standard input, which is all that it needs to know of that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import AgentRun, Program, RunSpec, Runtime, Started
from kimi_memory.domain.ids import new_id, stamp
from kimi_memory.errors import UsageError
from kimi_memory.runs.briefing import make_environment
from kimi_memory.runs.processes import end_leftovers
from kimi_memory.runs.run_folder import RunFolder

POOL = "warm"
"""What the record of a run says that was waiting."""


class Waiting(NamedTuple):
    """An agent that was started and waits for its task."""

    run: AgentRun
    place: RunFolder
    work: Path
    started: Started
    holder: int
    """Keeps its input open until there is a task."""
    since: float

    def give(self, text: bytes) -> None:
        """Give it its task; it cannot wait for more."""
        try:
            with (self.place.path / "stdin").open("wb", buffering=0) as pipe:
                os.close(self.holder)
                pipe.write(text)
        except BrokenPipeError:
            return  # It ended meanwhile, or reads nothing, which its run tells.

    def drop(self, runtime: Runtime) -> None:
        """End it without a task; nothing is left of it."""
        os.close(self.holder)
        runtime.stop(self.started, 0.0)
        end_leftovers(self.run.id)
        self.place.take_folder_back()
        self.place.unlock()
        self.place.drop()


class WarmPool:
    """Keeps agents of one program waiting; use it in a ``with`` block.

    Args:
        memory: that they will work with.
        program: what is started; it gets its block on standard input, or in a file.
        runtime: starts it, on this machine.
        environ: where variables that it is to get are taken from.
        warm: so many wait.
        idle_s: one that has waited for longer is replaced.

    Raises:
        UsageError: the program cannot wait, as its block is in a variable or it runs elsewhere.
    """

    def __init__(
        self, memory: Memory, program: Program, runtime: Runtime, environ: Mapping[str, str],
        *, warm: int = 1, idle_s: float = 300.0,
    ) -> None:  # fmt: skip
        if program.context == "env":
            raise UsageError("A block in a variable cannot come later. Use context = stdin.")
        if runtime.host:
            raise UsageError(f"Agents of {runtime.name} cannot wait. Choose one of this machine.")
        self._memory, self.program, self.runtime = memory, program, runtime
        self._environ, self._warm, self._idle_s = environ, warm, idle_s
        self._waiting: list[Waiting] = []

    def __enter__(self) -> WarmPool:
        self.fill()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fill(self) -> None:
        """Start as many as are missing; one that ended, or waited for too long, is replaced."""
        for one in [*self._waiting]:
            late = time.monotonic() - one.since > self._idle_s
            if late or not self.runtime.alive(one.started):
                self._waiting.remove(one)
                one.drop(self.runtime)
        while len(self._waiting) < self._warm:
            self._waiting.append(self._start())

    def take(self) -> Waiting | None:
        """Return one that waits; None where none does."""
        while self._waiting:
            one = self._waiting.pop(0)
            if self.runtime.alive(one.started):
                return one
            one.drop(self.runtime)
        return None

    def close(self) -> None:
        """End those that wait."""
        while self._waiting:
            self._waiting.pop().drop(self.runtime)

    def _start(self) -> Waiting:
        now, memory, program = self._memory.clock(), self._memory, self.program
        run = AgentRun(
            new_id("run", now), memory.settings.memory.id, "", agent=program.name, pool=POOL,
            runtime=program.runtime, status="ready", started=stamp(now), ready_at=stamp(now),
        )  # fmt: skip
        place = RunFolder.create(memory.home.state, run, memory.root)
        work, pipe = place.lend_folder(), place.path / "stdin"
        for path in (place.output, place.errors):
            path.touch(mode=0o600)
        os.mkfifo(pipe, 0o600)
        # Else the program would wait to be started until there is a task.
        holder = os.open(pipe, os.O_RDWR | os.O_CLOEXEC)
        env = make_environment(self._environ, program, run.id, self.runtime.inside or str(work), "")
        spec = RunSpec(
            run.id, program.command, env, work, pipe, place.output, place.errors,
            program.limits, program.network, program.roots,
        )  # fmt: skip
        try:
            started = self.runtime.start(spec)
        except UsageError:
            os.close(holder)
            place.take_folder_back()
            place.unlock()
            place.drop()
            raise
        return Waiting(run, place, work, started, holder, time.monotonic())
