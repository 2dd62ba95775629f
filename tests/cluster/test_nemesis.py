"""Every kind of fault, again and again, over PostgreSQL, with nodes in namespaces of their own.

``NEMESIS_FAULTS`` says how many, ``NEMESIS_SEED`` which; both are printed. After every twenty-five,
all that was answered is held against the log and both folders.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory
from tests.cluster.histories import find_edits
from tests.cluster.namespaces import Network, can_make
from tests.cluster.nodes import STEPS, Node, opening_of
from tests.cluster.postgres import Server, find_programs
from tests.cluster.test_failover import acknowledged, go_on, leader, settle, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(7200)]
TTL = 2.0
FAULTS = int(os.environ.get("NEMESIS_FAULTS", "40"))
SEED = int(os.environ.get("NEMESIS_SEED", str(time.time_ns() % 10**6)))
_ROUND = 25


class Nemesis:
    """Two nodes on hosts of their own, the database of both, and what is done to them."""

    def __init__(self, base: Path, seed: int) -> None:
        self.chance, self.done, self._sessions = random.Random(seed), Counter[str](), 0
        self.network = Network("ab")
        self.server = Server(self.network.address)
        self.nodes = [Node(base, name, self.server.url, TTL) for name in "ab"]
        for node in self.nodes:
            node.prefix = self.network.prefix(node.name)
            self._mount(node)
        self.nodes[0].create()
        self.nodes[1].copy()
        self.kinds: dict[str, Callable[[Node], None]] = {
            "kill": self.kill,
            "kill service": lambda node: self.kill(node, "service"),
            "pause": self.pause,
            "cut": self.cut,
            "engine restart": lambda node: self.restart_engine(),
            "disk full": self.fill,
            "skew": self.skew,
            **{f"dies at {step}": lambda node, step=step: self.die(node, step) for step in STEPS},
        }

    def start(self, node: Node, dies: str = "") -> None:
        """Have a node keep in step, and write turns."""
        self._sessions += 1
        if "service" not in node.processes or node.processes["service"].poll() is not None:
            node.serve(dies if self.chance.random() < 0.5 else "")
        node.write(f"s-{node.name}-{self._sessions}", dies)
        node.swap(f"w-{node.name}-{self._sessions}")

    def strike(self) -> None:
        """Do one of all kinds to the node that leads, or to the other one."""
        lead = leader(self.nodes)
        node = lead if lead and self.chance.random() < 0.7 else self.chance.choice(self.nodes)
        kind = self.chance.choice([*self.kinds])
        self.done[kind] += 1
        self.kinds[kind](node)
        time.sleep(self.chance.uniform(0.0, 0.6))

    def kill(self, node: Node, *names: str) -> None:
        node.kill(*names)
        self.start(node)

    def pause(self, node: Node) -> None:
        node.signal(signal.SIGSTOP)
        time.sleep(self.chance.choice([0.3, 1.2 * TTL, 2.5 * TTL]))
        node.signal(signal.SIGCONT)

    def cut(self, node: Node) -> None:
        self.network.cut(node.name)
        time.sleep(self.chance.choice([0.3, 1.2 * TTL, 2.5 * TTL]))
        self.network.join(node.name)

    def restart_engine(self) -> None:
        self.server.kill()
        time.sleep(self.chance.uniform(0.0, 1.0))
        self.server.start()

    def skew(self, node: Node) -> None:
        node.skew = self.chance.choice([-3600.0, 0.0, 3600.0])
        self.kill(node)

    def fill(self, node: Node) -> None:
        spare = node.folder.parent / "spare"
        try:
            with spare.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        except OSError:
            time.sleep(self.chance.uniform(0.2, 1.5))
        spare.unlink()
        # A person looks after the disk, and says that it is well.
        node.kill()
        with Memory.open(node.folder, opening_of(node.base)) as memory:
            memory.store.clear_read_only()
        self.start(node)

    def die(self, node: Node, step: str) -> None:
        node.kill()
        self.start(node, f"{step}:{self.chance.randrange(12)}")
        time.sleep(self.chance.uniform(0.5, 1.5))
        self.kill(node)

    def check(self) -> int:
        """Hold what was answered against everything; return how much that was."""
        settle(self.nodes)
        with self.nodes[0].cluster() as cluster:
            edits = [*find_edits(cluster)]
        assert not edits, "\n".join(edits)
        return acknowledged(self.nodes)

    def close(self) -> None:
        for node in self.nodes:
            node.kill()
        self.server.stop()
        self.network.close()
        for node in self.nodes:
            subprocess.run(["umount", "-l", node.folder.parent], check=False)

    def _mount(self, node: Node) -> None:
        disk = node.folder.parent
        disk.mkdir()
        size = ["-o", "size=48m"]
        subprocess.run(["mount", "-t", "tmpfs", *size, "tmpfs", disk], check=True)


@pytest.fixture
def nemesis(tmp_path: Path) -> Iterator[Nemesis]:
    pytest.importorskip("psycopg", reason="needs kimi-memory[cluster]")
    if find_programs() is None or not can_make():
        pytest.skip("needs root, iproute2 and the programs of a PostgreSQL server")
    found = Nemesis(tmp_path, SEED)
    yield found
    found.close()


def test_nothing_is_lost_whatever_happens(
    nemesis: Nemesis, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = answered = 0
    while faults < FAULTS:
        for node in nemesis.nodes:
            nemesis.start(node)
        go_on(nemesis.nodes, more=5)
        for _ in range(min(_ROUND, FAULTS - faults)):
            nemesis.strike()
            faults += 1
        for node in nemesis.nodes:
            nemesis.start(node)  # One that began while it was cut off did not find its memory.
        wait_until(lambda: leader(nemesis.nodes) is not None)
        go_on(nemesis.nodes, more=5)
        answered = nemesis.check()
        with capsys.disabled():
            kinds = ", ".join(f"{kind} {count}" for kind, count in nemesis.done.most_common())
            print(f"\nseed {SEED}: {faults} faults, {answered} answered, 0 lost ({kinds})")
    assert answered > FAULTS // 4  # Else nothing was tried; a busy machine answers little.
