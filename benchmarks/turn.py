"""Durable turns: ``python -m benchmarks.turn --turns 500 --json``.

A turn is screened, rated, appended, synced and journaled before the call returns; the
view of a long-lived process follows behind it and is measured by itself. Its time is set
against a bare append and ``fdatasync`` of a line as long, in the same folder and in turns
with it, so that a slow disk or a busy machine slows down both. ``kimi-memory session
turn`` is set against an empty Python process.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.formats.jsonl import session_line, turn_line, view_json
from kimi_memory.hooks.host import Host
from kimi_memory.store.wal.journal import Entry

ROUND = 25
SAID = (
    "今天把登录模块的 {} 个测试补完了，明天接着看支付回调那一块的日志。",
    "The linker could not find library {} on the second runner, so the job was restarted.",
    "日志里有 {} 处超时，都发生在连接池用完之后，先把上限调到六十四再观察一天。",
    "I looked at trace {}: most of the time goes into parsing the manifest twice.",
)


@dataclass(slots=True)
class Times:
    """Milliseconds of what was measured, by name."""

    ms: dict[str, list[float]] = field(default_factory=dict)
    clock: Callable[[], float] = time.perf_counter

    def take(self, name: str, call: Callable[[], object], times: int = ROUND) -> None:
        """Measure a call so many times."""
        found = self.ms.setdefault(name, [])
        for _ in range(times):
            began = self.clock()
            call()
            found.append((self.clock() - began) * 1000)

    def p50(self, name: str) -> float:
        """Return the median."""
        return round(statistics.median(self.ms[name]), 3)

    def p99(self, name: str) -> float:
        """Return the time that one call in a hundred exceeds."""
        return round(statistics.quantiles(self.ms[name], n=100)[98], 3)


def measure(turns: int) -> dict[str, float]:
    """Return medians of the whole turn, of its peer and of its parts."""
    times = Times()
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        root = Path(folder)
        home = Home(root / "config", root / "state")
        opening = Opening(home=home, host=Host(entry_points=False), background=True)
        with Memory.create(root / "memory", opening=opening) as memory:
            handle, number = memory.session("bench"), count()

            def turn() -> None:
                n = next(number)
                role = ("user", "assistant")[n // len(SAID) % 2]
                handle.turn(role, SAID[n % len(SAID)].format(n))

            times.take("warm-up", turn)
            parts, bare = _parts(memory), _bare(root / "memory" / "bare.jsonl")
            for _ in range(max(1, turns // ROUND)):
                times.take("bare", bare)
                times.take("turn", turn)
                for name, part in parts.items():
                    times.take(name, part)
    return {
        "turns": len(times.ms["turn"]),
        "bare_p50_ms": times.p50("bare"),
        "turn_p50_ms": times.p50("turn"),
        "turn_p99_ms": times.p99("turn"),
        "ratio": round(times.p50("turn") / times.p50("bare"), 2),
        **{f"{name}_ms": times.p50(name) for name in parts},
    }


def _bare(path: Path) -> Callable[[], None]:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    line = b"x" * 400 + b"\n"

    def append() -> None:
        os.write(fd, line)
        os.fdatasync(fd)

    return append


def _parts(memory: Memory) -> dict[str, Callable[[], object]]:
    """Return the steps of a turn, each to be called by itself."""
    session = Session("parts", memory.clock())
    made = Turn(1, memory.clock(), Role.USER, SAID[0].format(1))
    path, actor = "short-term/session_parts.jsonl", Actor("bench", made.origin)
    memory.store.append(path, [session_line(session)], actor)
    seen = Transcript(session, (made,) * 10)
    entry = Entry("append", "short-term/session_none.jsonl", "", "")
    return {
        "screen": lambda: memory.screen.pass_text(made.text),
        "triggers": lambda: memory.host.gather("capture_turn", turn=made, session=session),
        "append": lambda: memory.store.append(path, [turn_line(made)], actor),
        "journal": lambda: memory.store.journal.add([entry], actor, sync=False),
        "view": lambda: memory.store.view("short-term/session_parts.json", view_json(seen)),
    }


def processes(runs: int) -> dict[str, float]:
    """Return the medians of the command and of an empty process."""
    times = Times()
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
        environment |= {"HOME": folder, "KIMI_MEMORY": f"{folder}/memory"}

        def run(*command: str) -> None:
            call = [sys.executable, *command]
            subprocess.run(call, check=True, env=environment, stdout=subprocess.DEVNULL)

        session = ("-m", "kimi_memory", "session")
        run("-m", "kimi_memory", "init", f"{folder}/memory")
        run(*session, "start", "s")
        for _ in range(runs):
            times.take("process", lambda: run(*session, "turn", "s", SAID[1].format(0)), 1)
            times.take("empty", lambda: run("-c", "pass"), 1)
    ratio = round(times.p50("process") / times.p50("empty"), 2)
    return {
        "process_p50_ms": times.p50("process"),
        "empty_process_ms": times.p50("empty"),
        "process_ratio": ratio,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.turn", description=__doc__)
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--runs", type=int, default=9, help="processes to start")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = {**measure(chosen.turns), **processes(chosen.runs)}
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20}{value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
