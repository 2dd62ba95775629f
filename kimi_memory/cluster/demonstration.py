"""The demonstration of a cluster: two nodes on this machine, one of which is killed.

The nodes are processes of their own, with homes of their own. What they store is counted by the
process that shows it, from what was answered, and then looked for on the node that is left.
"""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.api.turn_capture import SessionHandle
from kimi_memory.cluster.checking import check_log, digest_tree
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.running import Service
from kimi_memory.errors import NotPrimaryError, StoreError

TTL_SECONDS = 3.0
_NODES = ("edge-1", "rack-2")
_TURNS = ("Order {n} goes to line {line}.", "订单 {n} 交给 {line} 号线。")
_BEFORE, _AFTER = 60, 20


def show_cluster(folder: Path, url: str = "") -> Iterator[str]:
    """Start two nodes, kill the one that leads, and yield what becomes of it, line by line.

    Args:
        folder: a new or empty one for the homes and folders of both nodes.
        url: of the change log; a folder of its own if empty.
    """
    folder = folder.absolute()
    url = url or f"folder://{folder}/log"
    first, second = (_make_home(folder / name, name, url) for name in _NODES)
    yield f"1 · Two nodes on this machine, {_NODES[0]} and {_NODES[1]}"
    yield f"    the change log between them: {url.rpartition('@')[2]}"
    with Cluster.open(opening=first) as cluster:
        name = f"demo-{platform.node()}-{time.time_ns() % 10**9}"
        Memory.create(folder / _NODES[0] / "memory", name=name, opening=first).close()
        cluster.join()
        cluster.deploy(folder / _NODES[0] / "memory")
    leader = _start(folder, "serve", _NODES[0], name)
    with Cluster.open(opening=second) as cluster:
        cluster.join()
        cluster.add(name, folder / _NODES[1] / "memory")
        yield f"2 · A memory on both; {_NODES[0]} takes the writes, {_NODES[1]} follows"
        keeper = _start(folder, "serve", _NODES[1], name)
        try:
            yield from _show_failover(cluster, folder, name, leader)
        finally:
            leader.kill()
            leader.wait()
            keeper.terminate()
            keeper.wait()
    yield from _compare(folder, name, (first, second))


def _show_failover(
    cluster: Cluster, folder: Path, name: str, leader: subprocess.Popen[bytes]
) -> Iterator[str]:
    writer = _start(folder, "write", _NODES[0], name)
    assert writer.stdout is not None
    answered = [writer.stdout.readline().decode().strip() for _ in range(_BEFORE)]
    for process in (writer, leader):
        process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    # What it had answered and we had not read yet was acknowledged as well.
    answered += writer.stdout.read().decode().split("\n")[:-1]
    writer.wait()
    answered = [one for one in answered if one]
    yield f"3 · {_NODES[0]} answered {len(answered)} turns, and was killed with SIGKILL"
    with cluster.memory(name) as memory:
        session = _begin_when_led(memory)
        gap = time.monotonic() - killed
        state = cluster.state(cluster.registry.find(name))
        yield f"4 · {state.holder} leads after {gap:.1f} s (epoch {state.epoch}), with no help"
        for n in range(1, _AFTER):
            session.turn("user", _TURNS[n % 2].format(n=n, line=n % 5), ref=f"after-{n}")
        answered += [f"after-{n}" for n in range(_AFTER)]
        found = _count_turns(memory)
    lost = [ref for ref in answered if not found.get(ref)]
    twice = [ref for ref, count in found.items() if count > 1]
    yield f"5 · answered {len(answered)}, lost {len(lost)}, twice {len(twice)}"
    if lost or twice:
        raise StoreError(f"The demonstration failed: {(lost + twice)[:3]}. Report this.")


def _begin_when_led(memory: Memory) -> SessionHandle:
    """Start a session as soon as the writes are taken again."""
    while True:
        try:
            session = memory.session("second")
            session.turn("user", "Who takes orders now? 现在谁接单？", ref="after-0")
        except NotPrimaryError:
            time.sleep(0.05)
        else:
            return session


def _compare(folder: Path, name: str, openings: tuple[Opening, ...]) -> Iterator[str]:
    trees = []
    for node, opening in zip(_NODES, openings, strict=True):
        with Memory.open(folder / node / "memory", opening) as memory:
            assert memory.store.relay is not None
            memory.batch.flush()
            memory.store.relay.follow()
    for node, opening in zip(_NODES, openings, strict=True):
        with Memory.open(folder / node / "memory", opening) as memory:
            assert memory.store.relay is not None
            memory.store.relay.follow()
            trees.append(digest_tree(memory))
            head = memory.history.head()[:10]
            yield f"    {node}: commit {head}, files and commit sha256 {trees[-1][:16]}"
    with Cluster.open(opening=openings[0]) as cluster:
        problems = [*check_log(cluster.log, cluster.registry.find(name))]
    if problems or len(set(trees)) != 1:
        raise StoreError(f"The nodes are not the same: {problems[:1]}. Report this.")
    yield f"6 · {_NODES[0]} is back, followed, and holds the same bytes and the same commit"
    yield "How it works: docs/cluster.md"


def _make_home(base: Path, name: str, url: str) -> Opening:
    home = Home(base / "config", base / "state")
    home.config.mkdir(parents=True)
    lines = ["[cluster]", f"url = {json.dumps(url)}", f"node = {json.dumps(name)}"]
    text = "\n".join([*lines, f"ttl = {TTL_SECONDS}", ""])
    (home.config / "config.toml").write_text(text, encoding="utf-8")
    return Opening(home=home, background=False)


def _start(folder: Path, what: str, node: str, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__, what, str(folder / node), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)


def _count_turns(memory: Memory) -> Counter[str]:
    files = [path for path in memory.store.files("short-term") if path.endswith(".jsonl")]
    lines = (line for path in files for line in memory.store.read(path).splitlines())
    return Counter(ref for line in lines if (ref := json.loads(line).get("ref", "")))


def _write(opening: Opening, name: str) -> None:
    with Cluster.open(opening=opening) as cluster, cluster.memory(name) as memory:
        session, n = memory.session("first"), 0
        while True:
            n += 1
            session.turn("user", _TURNS[n % 2].format(n=n, line=n % 5), ref=f"before-{n}")
            sys.stdout.write(f"before-{n}\n")
            sys.stdout.flush()


def _serve(opening: Opening) -> None:
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))

    def is_stopped(seconds: float) -> bool:
        time.sleep(min(0.2, seconds))
        return bool(stopped)

    with Cluster.open(opening=opening) as cluster:
        Service(cluster, opening, lambda line: None).run(is_stopped)


if __name__ == "__main__":
    base = Path(sys.argv[2])
    chosen = Opening(home=Home(base / "config", base / "state"))
    if sys.argv[1] == "write":
        _write(chosen, sys.argv[3])
    else:
        _serve(chosen)
