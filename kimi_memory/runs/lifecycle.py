"""The life of a run over one memory: start, follow, list, stop, mend what was cut off."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import AgentRun, Limits, Program, RunSpec, Runtime, Started, Task
from kimi_memory.domain.ids import new_id, stamp
from kimi_memory.errors import KimiMemoryError, NotFoundError, PluginError, UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs.briefing import brief_agent, lay_streams, make_environment
from kimi_memory.runs.metering import usage_of_run
from kimi_memory.runs.placing import explain_late
from kimi_memory.runs.processes import end_leftovers, measure_children
from kimi_memory.runs.profiles import note_placement
from kimi_memory.runs.programs import check_program
from kimi_memory.runs.roots import keep_out, split_root
from kimi_memory.runs.run_folder import RunFolder, drop_old, find_folder, list_folders
from kimi_memory.runs.run_records import read_runs, record_run, screen_run
from kimi_memory.runs.warm_pool import POOL, Waiting, WarmPool
from kimi_memory.runs.watching import End, Watch

if TYPE_CHECKING:
    from kimi_memory.api.turn_capture import SessionHandle

_GRACE_SECONDS = 2.0
_LOG_BYTES = 1024 * 1024
"""So much of what a run wrote is shown, and kept once it ended."""


class _Chosen(NamedTuple):
    """What runs where."""

    task: Task
    program: Program
    runtime: Runtime
    session: SessionHandle
    work: Path
    passing: bool
    """Whether that folder was made for it."""
    waiting: Waiting | None = None
    """An agent that was started already."""


class Runs:
    """The runs of one memory on this machine.

    Args:
        memory: opened.
        environ: where variables that a program is to get are taken from.
        pool: agents that wait for a task of its program.
    """

    def __init__(
        self,
        memory: Memory,
        environ: Mapping[str, str] = MappingProxyType({}),
        pool: WarmPool | None = None,
    ) -> None:
        self._memory, self._environ, self._pool = memory, environ, pool
        self._state = memory.home.state

    def run(self, task: Task, program: Program, folder: Path | None = None) -> AgentRun:
        """Have an agent do a task: it starts, is followed until it ends, and is gone.

        What it said is stored while it says it, and distilled at the end. A task with a `ref`
        that was done is not done again.

        Args:
            task: what to do.
            program: what to start.
            folder: where it works; a passing folder of its own if none.

        Raises:
            UsageError: it cannot be started here, or was lost too often.
            NotPrimaryError: another node takes the writes of this memory.
        """
        drop_old(self._state)
        self.recover()
        # After the recovery, which may find that the task was done by a runner that died since.
        attempt = self._count_attempts(task)
        if isinstance(attempt, AgentRun):
            return attempt
        runtime = self._choose_runtime(task, program, folder)
        limits = self._bound_time(task, program.limits)
        pool = self._pool if self._pool and self._pool.program == program and not folder else None
        waiting = pool.take() if pool else None
        with ExitStack() as otherwise:
            if pool and waiting:
                otherwise.callback(waiting.drop, pool.runtime)
            run = self._make_run(task, program, attempt, waiting)
            with self._writing_for(run):
                run, session = self._begin(run, task, program, runtime)
            otherwise.pop_all()
        place = waiting.place if waiting else RunFolder.create(self._state, run, self._memory.root)
        work = waiting.work if waiting else folder or place.lend_folder()
        runtime = pool.runtime if pool and waiting else runtime
        program = program._replace(limits=limits)
        try:
            chosen = _Chosen(task, program, runtime, session, work, folder is None, waiting)
            with self._writing_for(run):
                return self._carry_out(run, chosen, place)
        finally:
            place.take_folder_back()
            place.unlock()

    def plan(self, task: Task, program: Program, folder: Path | None = None) -> AgentRun:
        """Return the run that `run` would begin, or that did the task already; start nothing.

        Raises:
            UsageError: as in `run`.
        """
        attempt = self._count_attempts(task)
        if isinstance(attempt, AgentRun):
            return attempt
        runtime = self._choose_runtime(task, program, folder)
        check_program(program, runtime)
        self._bound_time(task, program.limits)
        return self._note_place(self._make_run(task, program, attempt, None), task, runtime)

    def _note_place(self, run: AgentRun, task: Task, runtime: Runtime) -> AgentRun:
        run = note_placement(self._memory, run, task)
        return replace(run, execution_node=runtime.host or run.execution_node)

    @contextmanager
    def _writing_for(self, run: AgentRun) -> Iterator[None]:
        """Have the journal name a run as the one for which the memory is written to."""
        before = self._memory.actor
        self._memory.actor = before._replace(run=run.id)
        try:
            yield
        finally:
            self._memory.actor = before

    def _begin(
        self, run: AgentRun, task: Task, program: Program, runtime: Runtime
    ) -> tuple[AgentRun, SessionHandle]:
        """Say where a run is, and open its session with what is to be done."""
        run = self._note_place(run, task, runtime)
        session = self._memory.session(run.id, agent=program.name, host="run", project="")
        session.turn("user", task.prompt, ref="prompt")
        relay = self._memory.store.relay
        return replace(run, session=session.id, epoch=relay.epoch if relay else 0), session

    def _bound_time(self, task: Task, limits: Limits) -> Limits:
        """Return limits that hold the deadline of a task, too.

        Raises:
            UsageError: it cannot be done within them, as long as it is expected to take.
        """
        now = self._memory.clock()
        if late := explain_late(task, now):
            raise UsageError(f"The task cannot be done: {late}. Give it a later one.")
        if limits.wall_s and task.expected_s > limits.wall_s:
            raise UsageError(
                f"The task is expected to take {task.expected_s:g} s, and its agent is ended "
                f"after {limits.wall_s:g}. Give it more with --seconds."
            )
        if task.deadline is None:
            return limits
        left = (task.deadline - now).total_seconds()
        return replace(limits, wall_s=min(limits.wall_s or left, left))

    def _choose_runtime(self, task: Task, program: Program, folder: Path | None) -> Runtime:
        runtime = choose_runtime(self._memory.host, program.runtime)
        if task.security == "high" and runtime.isolation == "none":
            raise UsageError("High security needs a sandbox. Use --runtime sandbox, or ssh:HOST.")
        if runtime.isolation != "none":
            home = self._memory.home
            shown = [split_root(one)[0] for one in program.roots]
            # A sandbox is no wall where a folder that it shows holds the memory or its keys.
            for one in (*shown, *([folder] if folder else [])):
                keep_out(one, (self._memory.root, home.state, home.config))
        return runtime

    def _carry_out(self, run: AgentRun, chosen: _Chosen, place: RunFolder) -> AgentRun:
        program, runtime, waiting = chosen.program, chosen.runtime, chosen.waiting
        before, begun = measure_children()[0], time.monotonic()
        watch = Watch(chosen.session, place)
        try:
            started = waiting.started if waiting else self._start(run, chosen, place)
        except UsageError as error:
            self._finish(run, watch, place, End("failed", str(error)))
            raise
        ready = waiting.run.ready_at if waiting else stamp(self._memory.clock())
        run = replace(run, status="busy", ready_at=ready)
        place.save(run)
        try:
            if waiting:
                waiting.give(self._brief(chosen)[0])
            end = watch.follow(started, program.limits)
        finally:
            place.save(replace(run, status="stopping"))
            # Whatever failed here: no agent outlives its run.
            runtime.stop(started, 0.0 if place.is_to_stop() else _GRACE_SECONDS)
            end_leftovers(run.id)
        cpu, memory_mb = measure_children()
        used = replace(
            watch.usage, memory=run.memory, day=run.started[:10], agent=run.agent,
            model=watch.usage.model or run.model, cpu_s=round(cpu - before, 3),
            wall_s=round(time.monotonic() - begun, 3),
        )  # fmt: skip
        return self._finish(replace(run, usage=used, memory_mb=memory_mb), watch, place, end)

    def _start(self, run: AgentRun, chosen: _Chosen, place: RunFolder) -> Started:
        program, runtime, work = chosen.program, chosen.runtime, chosen.work
        given, block = self._brief(chosen)
        lay_streams(place.path, given)
        env = make_environment(self._environ, program, run.id, runtime.inside or str(work), block)
        spec = RunSpec(
            run.id, program.command, env, work, place.path / "stdin", place.output, place.errors,
            program.limits, program.network, program.roots, chosen.passing,
        )  # fmt: skip
        return runtime.start(spec)

    def _brief(self, chosen: _Chosen) -> tuple[bytes, str]:
        """Return the input of an agent, and its block."""
        task = chosen.task
        block = self._memory.context("task", task.prompt, beside=chosen.session.id).text
        return brief_agent(chosen.work, task, chosen.program, block), block

    def _make_run(
        self, task: Task, program: Program, attempt: int, waiting: Waiting | None
    ) -> AgentRun:
        now, table = self._memory.clock(), self._memory.settings
        id = waiting.run.id if waiting else new_id("run", now)
        run = AgentRun(
            id, table.memory.id, task.id, task.class_, program.name,
            model=program.model or table.model.default,
            skills=program.skills or table.skills.default,
            runtime=program.runtime, started=stamp(now), attempt=attempt, ref=task.ref,
            pool=POOL if waiting else "",
        )  # fmt: skip
        return screen_run(self._memory, run)

    def _count_attempts(self, task: Task) -> int | AgentRun:
        """Return the number of the next attempt, or the run that did the task already."""
        if not task.ref:
            return 1
        ref = self._memory.screen.pass_name(task.ref)
        earlier = [one for one in self.list_runs() if one.ref == ref]
        for one in earlier:
            if one.outcome == "done":
                return one
            if one.status != "stopped":
                raise UsageError(f"{one.id} is at {task.ref} now. Wait for it, or stop it.")
        lost = sum(one.outcome in ("lost", "fenced") for one in earlier)
        if lost >= task.attempts:
            raise UsageError(
                f"{task.ref} was lost {lost} times. Look at 'kimi-memory agent list', then give it "
                "another reference."
            )
        return len(earlier) + 1

    def _finish(self, run: AgentRun, watch: Watch, place: RunFolder, end: End) -> AgentRun:
        """Store the last words, end the session, distil it, and keep how it went."""
        if end.outcome != "fenced":
            failed = watch.store(ended=True) if place.output.exists() else None
            end = failed or end
        run = replace(
            run, status="stopped", outcome=end.outcome, why=end.why,
            stopped=stamp(self._memory.clock()), grant_until=place.read_grant(),
        )  # fmt: skip
        if end.outcome != "fenced":
            try:
                record_run(self._memory, run)
                name = self._memory.settings.memory.name
                metered = replace(usage_of_run(self._memory, run), memory=name)
                self._memory.host.notice("metered", usage=metered)
                left = self._memory.end(run.session).failed
            except KimiMemoryError as error:
                # What was said is stored; the session waits for a later distillation.
                left = str(error)
            if left:
                run = replace(run, why=f"{run.why}; not distilled: {left}".strip("; "))
        self._tidy_logs(place)
        run = screen_run(self._memory, run)
        place.save(run)
        return run

    def _tidy_logs(self, place: RunFolder) -> None:
        """Keep the end of the output, without secrets; and nothing of what the agent was given."""
        for path in (place.output, place.errors):
            if path.exists():
                path.write_text(self._memory.mask_secrets(_read_end(path)), encoding="utf-8")
        for name in ("stdin", "stop", "grant"):
            (place.path / name).unlink(missing_ok=True)

    def recover(self) -> list[AgentRun]:
        """Finish the runs whose runner was killed: keep what their agents wrote, mark them lost."""
        found = []
        for place in list_folders(self._state):
            run = place.load()
            if run.status == "stopped" or place.root != self._memory.root or not place.try_lock():
                continue
            try:
                run = place.load()
                if run.status == "stopped":
                    continue  # It ended between the look and the lock.
                end_leftovers(run.id)
                place.take_folder_back()
                if run.status == "ready":  # It waited, and never had a task.
                    place.drop()
                    continue
                with self._writing_for(run):
                    session = self._memory.session(run.id, agent=run.agent, host="run")
                    end = End("lost", "its runner was killed")
                    found.append(self._finish(run, Watch(session, place), place, end))
            finally:
                place.unlock()
        return found

    def list_runs(self) -> list[AgentRun]:
        """Return the runs of the memory: those that ended anywhere, and those that live here."""
        known = {one.id: one for one in read_runs(self._memory)}
        for place in list_folders(self._state):
            with suppress(FileNotFoundError):
                if place.root == self._memory.root:
                    known[place.path.name] = place.load()
        return [known[id] for id in sorted(known)]

    def show(self, id: str) -> AgentRun:
        """Return a run by its id, or the beginning of one.

        Raises:
            NotFoundError: there is none.
        """
        found = [one for one in self.list_runs() if one.id.startswith((id, f"run-{id}"))]
        if len(found) != 1 or not id:
            raise NotFoundError("run", id)
        return found[0]

    def stop(self, id: str, wait_seconds: float = 10.0) -> AgentRun:
        """End a run; what its agent said until then is kept.

        Raises:
            NotFoundError: no such run lives on this machine.
            UsageError: it does not end.
        """
        place = find_folder(self._state, id)
        if place.load().status == "ready":
            raise UsageError(f"{place.path.name} has no task yet. End 'agent serve' instead.")
        if place.load().status != "stopped":
            place.ask_to_stop()
        end = time.monotonic() + wait_seconds
        while place.load().status != "stopped":
            self.recover()
            if time.monotonic() > end:
                raise UsageError(f"{place.path.name} does not end. Look at 'agent list' later.")
            time.sleep(0.05)
        return place.load()

    def read_log(self, id: str, *, errors: bool = False) -> str:
        """Return the end of what an agent wrote; it is kept for a week on the machine it ran on.

        Raises:
            NotFoundError: no such run was on this machine lately.
        """
        place = find_folder(self._state, id)
        path = place.errors if errors else place.output
        return self._memory.mask_secrets(_read_end(path)) if path.exists() else ""


def choose_runtime(host: Host, name: str) -> Runtime:
    """Return a runtime by its name.

    Raises:
        UsageError: no plugin offers it, or it cannot be used on this machine.
    """
    try:
        found: Runtime | None = host.answer("open_runtime", name=name)
    except PluginError as error:
        raise UsageError(f"The runtime {name} cannot be used here: {error}") from error
    if found is None:
        raise UsageError(
            f"There is no runtime {name!r}. Choose process, sandbox, gvisor, container:IMAGE, "
            "kubernetes:IMAGE, ray or ssh:HOST."
        )
    return found


def _read_end(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _LOG_BYTES))
        text = file.read().decode("utf-8", "replace")
    return text if size <= _LOG_BYTES else f"[{size - _LOG_BYTES:,} bytes before]\n{text}"
