"""The runtime ``ray``: the sandbox of a machine of Ray; ``ray:NODE`` that of a node of the cluster.

Why it exists: where Ray has the machines already, an agent goes where one is free; the memory stays
here, and what the agent says is kept here. A process beside the run speaks with Ray: where that
ends, for whatever reason, Ray ends the agent.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import select
import subprocess
import sys
import tempfile
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, RunSpec, Runtime, Started
from kimi_memory.errors import UsageError
from kimi_memory.runs.hosted_runs import pack_run
from kimi_memory.runs.processes import start_line, stop_process

_NAME = "ray"
_RESOURCE = "kimi-node:"
_SHARE = 0.001
_LOOK_SECONDS = 0.05
_CANNOT = 69


class RayRuntime:
    """Starts programs in the sandbox of a machine that Ray has.

    Args:
        node: the one that it has to be; any where it is empty.
    """

    isolation: Isolation = "medium"
    inside = "/box"

    def __init__(self, node: str) -> None:
        self._node, self.host = node, node or _NAME
        self.name = f"{_NAME}:{node}" if node else _NAME

    def start(self, spec: RunSpec) -> Started:
        """Start a program on such a machine; ``RAY_ADDRESS`` says which Ray is meant."""
        if importlib.util.find_spec(_NAME) is None:
            raise UsageError(
                "The runtime needs Ray. Install it with 'pip install kimi-memory[ray]'."
            )
        argv = [sys.executable, "-m", __name__, self._node]
        return start_line(spec, argv, pack_run(spec))

    def stop(self, started: Started, grace_s: float) -> None:
        """End a program, by ending what speaks with Ray."""
        stop_process(started, grace_s)

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


class Place:
    """A program on the machine that Ray chose; it ends when this does."""

    def __init__(self, line: bytes) -> None:
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115  as long as it
        out, errors = self._files
        argv = [sys.executable, "-m", "kimi_memory", "exec", "host"]
        self._begun = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=out, stderr=errors)
        assert self._begun.stdin is not None
        self._begun.stdin.write(line)
        self._begun.stdin.flush()
        self._read = [0, 0]

    def look(self) -> tuple[int | None, list[bytes]]:
        """Return the exit code, None while it runs; and what was written since the last look."""
        code = self._begun.poll()  # Looked at before what it wrote: nothing can come after that.
        parts = [os.pread(one.fileno(), 1 << 20, at)
                 for one, at in zip(self._files, self._read, strict=True)]  # fmt: skip
        self._read = [at + len(part) for at, part in zip(self._read, parts, strict=True)]
        return (None if any(parts) else code), parts


def carry_over(node: str) -> int:
    """Have Ray carry out the run that comes on standard input; return its exit code."""
    ray = importlib.import_module(_NAME)
    # Ray says at its start who uses it, unless this stands in the environment.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(log_to_driver=False, logging_level="ERROR")
    options: dict[str, Any] = {"max_restarts": 0}
    if node:
        wanted = f"{_RESOURCE}{node}"
        if wanted not in ray.cluster_resources():
            sys.stderr.write(f"no machine of the Ray cluster offers {wanted}\n")
            return _CANNOT
        options["resources"] = {wanted: _SHARE}
    given = sys.stdin.buffer
    place = ray.remote(Place).options(**options).remote(given.readline())
    sinks = (sys.stdout.buffer, sys.stderr.buffer)
    try:
        while True:
            code, parts = ray.get(place.look.remote())
            for sink, part in zip(sinks, parts, strict=True):
                sink.write(part)
                sink.flush()
            if code is not None:
                return int(code)
            heard = select.select([given], [], [], _LOOK_SECONDS)[0]
            if heard and not os.read(given.fileno(), 65536):
                return _CANNOT  # Who asked for the run is gone.
    except ray.exceptions.RayError as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        sys.stderr.write(f"its worker ended: {said[0]}\n")
        return _CANNOT
    finally:
        ray.kill(place)
        ray.shutdown()


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Have Ray start programs."""
    kind, _, node = name.partition(":")
    return RayRuntime(node) if kind == _NAME else None


if __name__ == "__main__":
    sys.exit(carry_over(sys.argv[1]))
