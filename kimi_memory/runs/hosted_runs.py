"""A run that is carried out on another machine: what is sent there, and what that machine does.

One line says what to start; what the agent writes comes back as it is written. The line stays open
as long as the run: when it ends, because the runner stopped or died or was cut off, so does the
agent.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Limits, RunSpec
from kimi_memory.errors import UsageError
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.hooks.host import Host
from kimi_memory.runs.lifecycle import choose_runtime
from kimi_memory.runs.roots import keep_out, split_root

_LOOK_SECONDS = 0.02
_PART = 65536


def pack_run(spec: RunSpec) -> bytes:
    """Return the line that has another machine carry out a run.

    Raises:
        UsageError: it works in a folder of this machine.
    """
    if not spec.passing:
        raise UsageError("That folder lies on this machine. Leave --folder out.")
    value = {
        "run": spec.run, "argv": spec.argv, "env": dict(spec.env), "limits": plain(spec.limits),
        "network": spec.network, "roots": spec.roots,
        "stdin": spec.stdin.read_text(encoding="utf-8"),
        "files": {path.name: path.read_text(encoding="utf-8") for path in spec.work.iterdir()},
    }  # fmt: skip
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def host_run(host: Host, home: Home, given: IO[bytes], sinks: Sequence[IO[bytes]]) -> int:
    """Carry out a run for another machine, in a sandbox; return its exit code.

    Args:
        host: knows the sandbox.
        home: of the user here, whose settings and state are shown to nobody.
        given: one line from `pack_run`; the agent ends when nothing more can come.
        sinks: where standard output and standard error go.

    Raises:
        UsageError: it cannot be started here.
    """
    with (
        TemporaryDirectory(prefix="kimi-place-") as place,
        TemporaryDirectory(prefix="kimi-run-") as work,
    ):
        spec = _unpack(given.readline(), Path(place), Path(work))
        for one in spec.roots:
            keep_out(split_root(one)[0], (home.config.resolve(), home.state.resolve()))
        runtime = choose_runtime(host, "sandbox")
        started = runtime.start(spec)
        end = time.monotonic() + spec.limits.wall_s if spec.limits.wall_s else None
        try:
            with spec.stdout.open("rb") as out, spec.stderr.open("rb") as errors:
                while True:
                    # Looked at before what it wrote: nothing can come after that.
                    over = started.poll() is not None
                    for file, sink in zip((out, errors), sinks, strict=True):
                        _copy(file, sink)
                    if over or _is_gone(given) or (end and time.monotonic() > end):
                        break
        finally:
            runtime.stop(started, 0.0)
        code = started.wait()
        return code if code >= 0 else 128 - code


def _unpack(line: bytes, place: Path, work: Path) -> RunSpec:
    try:
        value: dict[str, Any] = json.loads(line)
        files: dict[str, str] = {**value["files"]}
        for name, text in files.items():
            if Path(name).name != name:
                raise ValueError(name)
            (work / name).write_text(text, encoding="utf-8")
        (place / "in").write_text(value["stdin"], encoding="utf-8")
        for name in ("out", "err"):
            (place / name).touch()
        return RunSpec(
            value["run"], tuple(value["argv"]), value["env"], work, place / "in", place / "out",
            place / "err", revive(Limits, value["limits"]), value["network"] is True,
            tuple(value["roots"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError("That is no run. 'kimi-memory agent run' sends one.") from error


def _copy(source: IO[bytes], sink: IO[bytes]) -> None:
    while part := source.read(_PART):
        sink.write(part)
    sink.flush()


def _is_gone(given: IO[bytes]) -> bool:
    """Wait a moment; say whether who asked for the run is gone."""
    ready, _, _ = select.select([given], [], [], _LOOK_SECONDS)
    return bool(ready) and not os.read(given.fileno(), _PART)
