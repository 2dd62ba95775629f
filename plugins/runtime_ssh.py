"""The runtime ``ssh:HOST``: the sandbox of another machine, reached by ssh.

Why it exists: an agent that needs another machine's programs, data or processors goes there; the
memory stays here, and what the agent says is kept here.
"""

from __future__ import annotations

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, RunSpec, Runtime, Started
from kimi_memory.runs.exec_line import check_host
from kimi_memory.runs.hosted_runs import pack_run
from kimi_memory.runs.processes import start_line, stop_process
from kimi_memory.runs.profiles import SSH


class SshRuntime:
    """Starts programs in the sandbox of another machine.

    Args:
        host: as ssh knows it, with a user where that is another one.
    """

    isolation: Isolation = "medium"
    inside = "/box"

    def __init__(self, host: str) -> None:
        check_host(host)
        self.host, self.name = host, f"{SSH}{host}"

    def start(self, spec: RunSpec) -> Started:
        """Start a program over there; it ends with the connection."""
        argv = ["ssh", "-o", "BatchMode=yes", "-T", self.host, "kimi-memory", "exec", "host"]
        return start_line(spec, argv, pack_run(spec))

    def stop(self, started: Started, grace_s: float) -> None:
        """End a program, by ending the connection."""
        stop_process(started, grace_s)

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Start programs on another machine."""
    return SshRuntime(name.removeprefix(SSH)) if name.startswith(SSH) else None
