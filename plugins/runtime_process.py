"""The runtime ``process``: a plain process with limits, as the user who started it.

Why it exists: an agent that its user trusts needs nothing more, and starts in milliseconds.
"""

from __future__ import annotations

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, RunSpec, Runtime, Started
from kimi_memory.runs.processes import start_process, stop_process


class ProcessRuntime:
    """Starts programs as they are."""

    name = "process"
    isolation: Isolation = "none"
    inside = ""
    host = ""

    def start(self, spec: RunSpec) -> Started:
        """Start a program."""
        return start_process(spec, spec.argv, spec.env)

    def stop(self, started: Started, grace_s: float) -> None:
        """End a program and its group."""
        stop_process(started, grace_s)

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Start plain processes."""
    return ProcessRuntime() if name == "process" else None
