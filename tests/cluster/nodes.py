"""Nodes as processes of their own: started, killed, paused, and asked to write."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.running import Service
from kimi_memory.store.log_position import Position
from kimi_memory.store.relay import Relay
from kimi_memory.store.shipped_commits import CommitShipping
from kimi_memory.store.wal.journal import Journal

SERVICE = """
import sys
from pathlib import Path
from tests.cluster.nodes import serve
serve(Path(sys.argv[1]))
"""
WRITER = """
import sys
from pathlib import Path
from tests.cluster.nodes import write
write(Path(sys.argv[1]), sys.argv[2])
"""
SWAPPER = """
import sys
from pathlib import Path
from tests.cluster.swaps import swap
swap(Path(sys.argv[1]), sys.argv[2])
"""
ROOT = Path(__file__).parents[2]


SKEW, DIES = "KIMI_TEST_SKEW", "KIMI_TEST_DIES"
"""How wrong the clock of a process is; at which step of a relay, and which time, it dies."""


def opening_of(base: Path, *, background: bool = False) -> Opening:
    skew = timedelta(seconds=float(os.environ.get(SKEW, "0")))
    home = Home(base / "config", base / "state")
    return Opening(home=home, background=background, clock=lambda: datetime.now(UTC) + skew)


STEPS = {
    "propose": (Relay, "_put_next"),
    "place": (Relay, "_carry_out"),
    "journal": (Journal, "add"),
    "commit": (CommitShipping, "ship"),
    "catch up": (Position, "_carry_out"),
}


def die_at_a_step() -> None:
    """Have this process be killed at a step of its relay, if it is to be."""
    step, _, number = os.environ.get(DIES, "").partition(":")
    if not step:
        return
    where, name = STEPS[step]
    real, left = getattr(where, name), itertools.count(-int(number))

    def dying(*arguments: Any, **named: Any) -> Any:
        if next(left) >= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)

    setattr(where, name, dying)


def serve(base: Path) -> None:
    """Keep the deployments of a node in step until the process is killed."""
    die_at_a_step()
    opening = opening_of(base, background=True)
    with Cluster.open(opening=opening) as cluster:
        say = lambda line: print(line, flush=True)  # noqa: E731  one line
        Service(cluster, opening, say).run(lambda seconds: time.sleep(seconds) is not None)


def write(base: Path, session: str) -> None:
    """Write turns of one session as fast as they are taken; a line of history for each."""
    die_at_a_step()
    history = base / f"history-{session}.jsonl"
    n = 0
    with (
        history.open("a", encoding="utf-8", buffering=1) as log,
        Cluster.open(opening=opening_of(base)) as cluster,
        cluster.memory("shop") as memory,
    ):
        while True:
            n += 1
            ref = f"{session}-{n}"
            log.write(json.dumps([time.monotonic(), "try", ref]) + "\n")
            try:
                handle = memory.session(session)
                handle.turn("user", f"Order {ref} goes to line {n % 7}. 订单 {ref}。", ref=ref)
            except Exception as error:  # noqa: BLE001  each kind is a line of the history
                kind = "unknown" if "Unknown" in type(error).__name__ else "fail"
                log.write(json.dumps([time.monotonic(), kind, ref, repr(error)]) + "\n")
                time.sleep(0.05)
            else:
                kind = "ok" if handle.durability == "replicated" else "kept"
                log.write(json.dumps([time.monotonic(), kind, ref]) + "\n")


class Node:
    """One machine: its home, its folder, its service and its writer."""

    def __init__(self, base: Path, name: str, url: str, ttl: float) -> None:
        self.base, self.name = base / name, name
        self.prefix: list[str] = []
        """What starts a program there, such as in a namespace."""
        self.skew = 0.0
        config = self.base / "config"
        config.mkdir(parents=True)
        lines = ["[cluster]", f'url = "{url}"', f'node = "{name}"', f"ttl = {ttl}"]
        (config / "config.toml").write_text("\n".join([*lines, "wait_seconds = 2.0", ""]))
        self.folder = self.base / "disk" / "shop"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def cluster(self) -> Cluster:
        return Cluster.open(opening=opening_of(self.base))

    def create(self) -> None:
        opening = opening_of(self.base)
        Memory.create(self.folder, name="shop", opening=opening).close()
        with self.cluster() as cluster:
            cluster.join()
            cluster.deploy(self.folder)

    def copy(self) -> None:
        with self.cluster() as cluster:
            cluster.join()
            cluster.add("shop", self.folder)

    def serve(self, dies: str = "") -> None:
        self._start("service", SERVICE, dies=dies)

    def write(self, session: str, dies: str = "") -> None:
        self._start(session, WRITER, session, dies=dies)

    def swap(self, name: str, dies: str = "") -> None:
        self._start(name, SWAPPER, name, dies=dies)

    def _start(self, name: str, code: str, *arguments: str, dies: str = "") -> None:
        if name in self.processes:
            self.kill(name)
        with (self.base / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*self.prefix, sys.executable, "-c", code, str(self.base), *arguments],
                stdout=log, stderr=log, cwd=ROOT, start_new_session=True,
                env=os.environ | {SKEW: str(self.skew), DIES: dies},
            )  # fmt: skip

    def signal(self, number: int, *names: str) -> None:
        """Send a signal to the processes of the node, or to some of them."""
        for name in names or tuple(self.processes):
            process = self.processes[name]
            if process.poll() is None:
                os.kill(process.pid, number)
                if number == signal.SIGKILL:
                    process.wait()

    def kill(self, *names: str) -> None:
        self.signal(signal.SIGCONT, *names)
        self.signal(signal.SIGKILL, *names)

    def kept(self) -> list[Path]:
        """Sessions that the node keeps until the log has them."""
        return [*self.folder.glob("short-term/*+kept.jsonl")]

    def said(self) -> str:
        return "".join(path.read_text() for path in sorted(self.base.glob("*.log")))
