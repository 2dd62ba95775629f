"""What stands between a task and its agent: ``python -m benchmarks.starts [--runs 30] [--json]``.

A program that does nothing, started as a plain process, and by each runtime that this machine has;
an agent that waited and is given its task; and a turn of a memory in a sealed folder, set against
one beside it. Pairs are measured one after the other. What is missing here is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from benchmarks.figures import print_figures
from benchmarks.turn import SAID, Times
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Program, RunSpec, Runtime
from kimi_memory.hooks.host import Host
from kimi_memory.operations.sealed_folders import close_sealed, create_sealed, open_sealed
from kimi_memory.runs.warm_pool import WarmPool

_PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
"""A sandbox sees the programs of the system alone."""
_NOTHING = (_PYTHON, "-c", "pass")
_WAITING = (_PYTHON, "-c", "import sys; sys.stdin.read()")
_NEEDS = {"process": "true", "sandbox": "bwrap", "gvisor": "runsc"}


def measure_starts(folder: Path, runs: int) -> dict[str, float]:
    """Return how long a program takes from its start to its end, by each runtime."""
    host, number, times = Host(entry_points=False), count(), Times()
    names = [name for name, program in _NEEDS.items() if shutil.which(program)]
    runtimes = {name: host.answer("open_runtime", name=name) for name in names}
    for n in range(runs + 1):
        times.take("bare", lambda: subprocess.run(_NOTHING, check=True), 1)
        for name, runtime in runtimes.items():
            times.take(name, _starter(runtime, folder / f"{next(number)}"), 1)
        if not n:  # The first one reads what all others find in memory.
            times.ms.clear()
    found = {"bare_start_p50_ms": times.p50("bare")}
    for name in runtimes:
        found[f"{name}_start_p50_ms"] = times.p50(name)
        found[f"{name}_start_ratio"] = round(times.p50(name) / times.p50("bare"), 2)
    return found


def _starter(runtime: Runtime, folder: Path) -> Callable[[], object]:
    work = folder / "work"
    work.mkdir(parents=True)
    folder.chmod(0o755)
    files = [folder / name for name in ("stdin", "stdout", "stderr")]
    for path in files:
        path.touch()
    spec = RunSpec(folder.name, _NOTHING, {"PATH": "/usr/bin:/bin"}, work, *files)
    return lambda: runtime.start(spec).wait()


def measure_pool(folder: Path, runs: int) -> dict[str, float]:
    """Return how long a task takes to reach an agent that waits."""
    times, host = Times(), Host(entry_points=False)
    runtime, program = host.answer("open_runtime", name="process"), Program("bench", _WAITING)
    with (
        Memory.create(folder / "pool", opening=_opening(folder)) as memory,
        WarmPool(memory, program, runtime, os.environ) as pool,
    ):
        for _ in range(runs):
            pool.fill()
            began = time.perf_counter()
            waiting = pool.take()
            assert waiting is not None
            waiting.give(b"Do it.\n")
            times.ms.setdefault("hit", []).append((time.perf_counter() - began) * 1000)
            waiting.started.wait()
            waiting.place.take_folder_back()
            waiting.place.unlock()
            waiting.place.drop()
    return {"pool_hit_p50_ms": times.p50("hit")}


def measure_sealed(folder: Path, turns: int) -> dict[str, float]:
    """Return what a turn costs in a sealed folder, against one beside it."""
    times, number, opening = Times(), count(), _opening(folder)
    with (
        _open_sealed(folder) as inside,
        Memory.create(folder / "plain", opening=opening) as plain,
        Memory.create(inside / "memory", opening=opening) as sealed,
    ):
        said = {"plain": plain.session("bench"), "sealed": sealed.session("bench")}

        def turn(name: str) -> None:
            n = next(number)
            said[name].turn("user", SAID[n % len(SAID)].format(n))

        for _ in range(turns):
            for name in said:
                times.take(name, lambda name=name: turn(name), 1)  # type: ignore[misc]  # bound now
    ratio = round(times.p50("sealed") / times.p50("plain"), 2)
    return {"sealed_turn_p50_ms": times.p50("sealed"), "sealed_turn_ratio": ratio}


@contextmanager
def _open_sealed(folder: Path) -> Iterator[Path]:
    import pyrage

    root, mount, key = folder / "sealed", folder / "open", folder / "key"
    made = pyrage.x25519.Identity.generate()
    key.write_text(str(made))
    create_sealed(root, [str(made.to_public())])
    open_sealed(root, mount, key)
    try:
        yield mount
    finally:
        close_sealed(mount)


def _opening(folder: Path) -> Opening:
    home = Home(folder / "config", folder / "state")
    return Opening(home=home, host=Host(entry_points=False), background=False)


def measure(runs: int, turns: int) -> dict[str, float]:
    """Return all figures."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as base:
        folder = Path(base)
        folder.chmod(0o755)  # The sandbox of root runs as nobody.
        found = measure_starts(folder / "starts", runs) | measure_pool(folder, runs)
        if shutil.which("gocryptfs") and Path("/dev/fuse").exists():
            found |= measure_sealed(folder, turns)
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.starts", description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.runs, chosen.turns)
    print_figures(found, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
