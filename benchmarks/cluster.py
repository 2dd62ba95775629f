"""A memory on several machines: ``python -m benchmarks.cluster [--turns 1000] [--json]``.

Two nodes of this machine over a PostgreSQL of its own. A turn that is put into the log is set
against a turn of a memory of this machine alone, and putting a record against an append and
``fdatasync`` of as many bytes: one by one, as a disk that
syncs for somebody else slows down both. The
follower is the service of a node, a process of its own; what it has done is seen by its file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.figures import print_figures
from benchmarks.turn import ROUND, SAID, Times
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.moving import sync
from kimi_memory.hooks.host import Host
from tests.cluster.nodes import Node, opening_of
from tests.cluster.postgres import Server, find_programs

TTL_SECONDS = 3.0
_BYTES = 700
"""Length of the record of a turn, about."""
_ALONE = """
import sys
from pathlib import Path
from kimi_memory import Memory
with Memory.create(Path(sys.argv[1])) as memory:
    memory.session("s").turn("user", "Alone.")
    memory.recall("Alone")
ours = ("kimi_memory.cluster", "kimi_memory.store.relay", "kimi_memory.store.log_",
        "kimi_memory.domain.change_log", "kimi_memory.api.relaying", "psycopg")
print(sum(name.startswith(ours) for name in sys.modules))
"""


def _ratio(times: Times, name: str, peer: str, of: Callable[[Times, str], float]) -> float:
    return round(of(times, name) / of(times, peer), 2)


def measure_turns(nodes: list[Node], folder: Path, turns: int, name: str) -> dict[str, float]:
    """Return times of a turn that is shipped and of one that is not, one after the other."""
    times, number = Times(), count()
    home = Home(folder / "alone-config", folder / "alone-state")
    opening = Opening(home=home, host=Host(entry_points=False), background=True)
    shipped = opening_of(nodes[0].base, background=True)
    with (
        Memory.create(folder / f"alone-{name}", opening=opening) as alone,
        Memory.open(nodes[0].folder, shipped) as memory,
    ):
        handles = {"local": alone.session("bench"), "shipped": memory.session(f"bench-{name}")}

        def turn(kind: str) -> None:
            n = next(number)
            handles[kind].turn("user", SAID[n % len(SAID)].format(n))

        for kind in handles:
            times.take(f"warm-{kind}", partial(turn, kind), ROUND)
        for _ in range(turns):
            for kind in handles:
                times.take(kind, partial(turn, kind), 1)
    return {
        f"{name}_local_turn_p50_ms": times.p50("local"),
        f"{name}_shipped_turn_p50_ms": times.p50("shipped"),
        f"{name}_turn_ratio_p50": _ratio(times, "shipped", "local", Times.p50),
        f"{name}_turn_ratio_p99": _ratio(times, "shipped", "local", Times.p99),
    }


def measure_put(node: Node, folder: Path, puts: int) -> dict[str, float]:
    """Return times of putting a record, of appending and syncing as many bytes, of a bare insert.

    The last is what the engine needs for a row of any table: it fences and calls nobody.
    """
    times, number, name, line = Times(), count(1), count(1), b"x" * (_BYTES - 1) + b"\n"
    fd = os.open(folder / "bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with node.cluster() as cluster:
        epoch = cluster.log.lease("bench", node.name, 600.0)

        def append() -> None:
            os.write(fd, line)
            os.fdatasync(fd)

        def put() -> None:
            cluster.log.put("bench", next(number), epoch, [line])

        def insert() -> None:
            cluster.log.engine.put_blob("bench", f"{next(name)}", line)

        steps = [("append", append), ("put", put), ("insert", insert)]
        for n in range(puts):
            # Each comes first as often as the others: what a disk does next depends on that.
            for kind, step in steps[n % 3 :] + steps[: n % 3]:
                times.take(kind, step, 1)
        cluster.log.release("bench", node.name, epoch)
    os.close(fd)
    return {
        "append_p50_ms": times.p50("append"),
        "put_p50_ms": times.p50("put"),
        "insert_p50_ms": times.p50("insert"),
        "put_ratio": _ratio(times, "put", "append", Times.p50),
        "put_to_insert_ratio": _ratio(times, "put", "insert", Times.p50),
    }


class _Growth(threading.Thread):
    """Notes when a file was first seen to have which size."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._path, self.seen = path, list[tuple[float, int]]()
        self.ended = threading.Event()

    def run(self) -> None:
        size = 0
        while not self.ended.wait(0.0005):
            now = self._path.stat().st_size if self._path.exists() else 0
            if now > size:
                size = now
                self.seen.append((time.monotonic(), size))


def measure_lag(nodes: list[Node], turns: int) -> dict[str, float]:
    """Return how long after its answer a turn is in the other folder, at 100 a second."""
    lead, follower = nodes
    name = "short-term/session_lag.jsonl"
    growth, answered = _Growth(follower.folder / name), list[tuple[float, int]]()
    growth.start()
    with Memory.open(lead.folder, opening_of(lead.base)) as memory:
        handle = memory.session("lag")
        for n in range(turns):
            begun = time.monotonic()
            handle.turn("user", SAID[n % len(SAID)].format(n))
            answered.append((time.monotonic(), (lead.folder / name).stat().st_size))
            time.sleep(max(0.0, 0.01 - (time.monotonic() - begun)))
    end = time.monotonic() + 10
    while not growth.seen or growth.seen[-1][1] < answered[-1][1]:
        if time.monotonic() > end:
            raise SystemExit(f"{follower.name} did not follow:\n{follower.said()[-2000:]}")
        time.sleep(0.01)
    growth.ended.set()
    lags, seen = [], iter(growth.seen)
    at, size = next(seen)
    for acked, needed in answered:
        while size < needed:
            at, size = next(seen)
        lags.append(max(0.0, at - acked) * 1000)
    return {
        "lag_p50_ms": round(statistics.median(lags), 1),
        "lag_p99_ms": round(statistics.quantiles(lags, n=100)[98], 1),
    }


def measure_catch_up(nodes: list[Node], turns: int) -> dict[str, float]:
    """Return how many records a second a folder carries out that was switched off."""
    lead, follower = nodes
    with Memory.open(lead.folder, opening_of(lead.base)) as memory:
        handle = memory.session("catch-up")
        for n in range(turns):
            handle.turn("user", SAID[n % len(SAID)].format(n))
    with Memory.open(follower.folder, opening_of(follower.base)) as memory:
        assert memory.store.relay is not None
        begun = time.perf_counter()
        records = memory.store.relay.follow()
        return {"catch_up_records_s": round(records / (time.perf_counter() - begun))}


def measure_failover(nodes: list[Node], times: int) -> dict[str, float]:
    """Return how long nobody led after the node that did was killed."""
    gaps = []
    with nodes[0].cluster() as cluster:
        memory = cluster.registry.find("shop")
        for _ in range(times):
            _await(lambda: cluster.state(memory).held)
            holder = cluster.state(memory).holder
            lost = next(node for node in nodes if node.name == holder)
            time.sleep(1.0)
            lost.kill("service")
            begun = time.perf_counter()
            _await(partial(_is_led_by_another, cluster, memory, holder))
            gaps.append(time.perf_counter() - begun)
            lost.serve()
            time.sleep(1.0)
    return {
        "ttl_s": TTL_SECONDS,
        "failover_p50_s": round(statistics.median(gaps), 2),
        "failover_worst_s": round(max(gaps), 2),
    }


def measure_planned(nodes: list[Node], times: int) -> dict[str, float]:
    """Return how long it takes until another node leads that is to, with both services running."""
    taken = []
    for n in range(times):
        with nodes[n % 2].cluster() as cluster:
            begun = time.perf_counter()
            cluster.promote("shop")
            taken.append(time.perf_counter() - begun)
    return {
        "planned_p50_s": round(statistics.median(taken), 2),
        "planned_worst_s": round(max(taken), 2),
    }


def measure_open(folder: Path, memories: int) -> dict[str, float]:
    """Return what each of many memories costs that one process keeps open, with its index."""
    home = Home(folder / "many-config", folder / "many-state")
    opening = Opening(home=home, host=Host(entry_points=False), background=False)
    before, opened = _resident_bytes(), list[Memory]()
    for n in range(memories):
        memory = Memory.create(folder / "many" / str(n), opening=opening)
        memory.session("s").turn("user", SAID[n % len(SAID)].format(n))
        memory.recall("order")
        opened.append(memory)
    found = (
        (_resident_bytes() - before) / memories,
        len([*Path("/proc/self/fd").iterdir()]) / memories,
    )
    for memory in opened:
        memory.close()
    return {"open_memory_mb": round(found[0] / 1e6, 2), "open_memory_files": round(found[1], 1)}


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _is_led_by_another(cluster: Cluster, memory: str, holder: str) -> bool:
    return cluster.state(memory).holder != holder


def _await(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        if time.monotonic() > end:
            raise SystemExit("No node leads.")
        time.sleep(0.01)


def count_imports(folder: Path) -> dict[str, float]:
    """Return how many modules of a cluster are loaded by a memory of this machine alone."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
    environment |= {"HOME": str(folder)}
    call = [sys.executable, "-c", _ALONE, str(folder / "unshared")]
    said = subprocess.run(call, env=environment, check=True, capture_output=True, text=True)
    return {"imports_without_cluster": int(said.stdout)}


@contextmanager
def _two_nodes(folder: Path) -> Iterator[list[Node]]:
    server = Server()
    nodes = [Node(folder, name, server.url, TTL_SECONDS) for name in ("a", "b")]
    try:
        nodes[0].create()
        nodes[1].copy()
        yield nodes
    finally:
        for node in nodes:
            node.kill()
        server.stop()


def _serve_in_step(nodes: list[Node]) -> None:
    """Start both services; the first node leads, and the other one has all there is."""
    for node in nodes:
        node.serve()
    with nodes[0].cluster() as cluster:
        cluster.promote("shop")
    _await_step(nodes)


def _await_step(nodes: list[Node]) -> None:
    # Else what an earlier measure left to be followed, such as its commit, counts in this one.
    with nodes[0].cluster() as cluster:
        sync(cluster, "shop", nodes[1].name)


def measure(turns: int, failovers: int) -> dict[str, float]:
    """Return all figures."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as base:
        folder = Path(base)
        found = count_imports(folder)
        with _two_nodes(folder) as nodes:
            found |= measure_put(nodes[0], folder, turns)
            found |= measure_turns(nodes, folder, turns, "quiet")
            found |= measure_catch_up(nodes, turns)
            _serve_in_step(nodes)
            found |= measure_turns(nodes, folder, turns, "followed")
            _await_step(nodes)
            found |= measure_lag(nodes, turns)
            found |= measure_planned(nodes, failovers)
            found |= measure_failover(nodes, failovers)
        found |= measure_open(folder, 100)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.cluster", description=__doc__)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--failovers", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    if find_programs() is None:
        print("skipped: needs the programs of a PostgreSQL server (Debian: postgresql)")
        return 0
    found = measure(chosen.turns, chosen.failovers)
    print_figures(found, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
