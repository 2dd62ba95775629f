"""Processes of runs: started within their limits, found and ended with all they started."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from kimi_memory.domain.agent_run import Limits, RunSpec, Started
from kimi_memory.domain.ids import RUN_VARIABLE
from kimi_memory.errors import UsageError

_PDEATHSIG = 1
_OPEN_FILES = 1024


def start_process(
    spec: RunSpec, argv: Sequence[str], env: Mapping[str, str], user: int | None = None,
    handles: Sequence[int] = (),
) -> subprocess.Popen[bytes]:  # fmt: skip
    """Start a program in its folder, with its files as standard streams.

    It ends with the thread that started it, also where that is killed.

    Raises:
        UsageError: there is no such program, or it cannot be started.
    """
    with ExitStack() as stack:
        given = stack.enter_context(spec.stdin.open("rb"))
        out = stack.enter_context(spec.stdout.open("ab"))
        errors = stack.enter_context(spec.stderr.open("ab"))
        try:
            return subprocess.Popen(
                list(argv),
                stdin=given,
                stdout=out,
                stderr=errors,
                cwd=spec.work,
                env=dict(env),
                start_new_session=True,
                preexec_fn=_bound_process(spec.limits),  # noqa: PLW1509  it loads nothing, takes no lock
                user=user,
                group=user,
                extra_groups=None if user is None else [],
                pass_fds=handles,
            )
        except (OSError, subprocess.SubprocessError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"{argv[0]} cannot be started: {why}. Name its whole path.") from error


def start_line(spec: RunSpec, argv: Sequence[str], first: bytes) -> subprocess.Popen[bytes]:
    """Start a program that carries a run to another machine; its input stays open as long as it.

    It has the variables of ours, and no limits: those of the run are held over there.

    Raises:
        UsageError: there is no such program.
    """
    with spec.stdout.open("ab") as out, spec.stderr.open("ab") as errors:
        try:
            started = subprocess.Popen(
                list(argv), stdin=subprocess.PIPE, stdout=out, stderr=errors,
                start_new_session=True,
                preexec_fn=_bound_process(Limits(output_bytes=0)),  # noqa: PLW1509  as above
            )  # fmt: skip
        except OSError as error:
            raise UsageError(
                f"{argv[0]} cannot be started: {error.strerror}. Install it."
            ) from error
    assert started.stdin is not None
    with suppress(BrokenPipeError):  # It ended already, and says why on standard error.
        started.stdin.write(first)
        started.stdin.flush()
    return started


def _bound_process(limits: Limits) -> Callable[[], None]:
    """Return what a new process does before it becomes the program."""
    # Loaded here: to load a library between fork and exec could wait for a lock for ever.
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.cpu_s + 0.999),
        resource.RLIMIT_AS: limits.memory_mb * 1024 * 1024,
        resource.RLIMIT_FSIZE: limits.output_bytes,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }

    def bound() -> None:
        for kind, most in bounds.items():
            if most or kind == resource.RLIMIT_CORE:
                hard = resource.getrlimit(kind)[1]
                allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (allowed, allowed))
        if libc is not None:
            libc.prctl(_PDEATHSIG, signal.SIGKILL)

    return bound


def stop_process(started: Started, grace_s: float) -> None:
    """End a program and its group: first politely, then by force."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        started.wait(grace_s)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    if isinstance(started, subprocess.Popen) and started.stdin is not None:
        with suppress(BrokenPipeError):
            started.stdin.close()


def end_leftovers(run: str, wait_seconds: float = 2.0) -> int:
    """Kill what a run left behind, also in sessions of its own; return how many there were.

    Processes are known by a variable that they inherited. One that took it out of its
    environment is not found; a sandbox leaves none.
    """
    count, end = 0, time.monotonic() + wait_seconds
    while time.monotonic() < end:
        found = list(_find_processes(run))
        if not found:
            break
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        count += len(found)
        time.sleep(0.01)
    return count


def _find_processes(run: str) -> Iterator[int]:
    mark = f"{RUN_VARIABLE}={run}\0".encode()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (path / "environ").read_bytes():
                yield int(path.name)


def measure_children() -> tuple[float, int]:
    """Return processor seconds of the children that ended, and the most memory of one, in MB."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
