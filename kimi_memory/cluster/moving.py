"""Moving a memory between machines, and bringing one of them in step, through its log."""

from __future__ import annotations

import time

from kimi_memory.api.memory import Memory
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.renewal import find_put_aside, find_unlogged, remove_folder
from kimi_memory.errors import DivergedError, NotPrimaryError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.paths import is_own

_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Shifted:
    """A memory whose writes another node takes now."""

    node: str
    epoch: int
    was: str
    """The node that took them before; empty for none."""
    seconds: float
    """How long nobody took any, at most."""
    kept: bool = True
    """Whether this machine keeps a copy."""


@dataclass(frozen=True, slots=True)
class Synced:
    """A node that has all that was written when it was asked for."""

    node: str
    seq: int
    """The last record that it had to have."""
    records: int
    """So many it had not yet."""
    seconds: float
    since: str = ""
    """The version that it was compared with; empty for none."""
    versions: int = 0
    """So many commits came after that one."""
    files: tuple[str, ...] = ()
    """Those that differ from it now."""


def find_seq(memory: Memory) -> int:
    """Return the last record of its log that an open memory knows; 0 on a machine by itself."""
    return memory.store.relay.position.place.seq if memory.store.relay else 0


def migrate(
    cluster: Cluster, name: str, node: str, wait_seconds: float = 30.0, *, keep_copy: bool = True
) -> Shifted:
    """Have another node take the writes, once it has everything.

    Args:
        cluster: the cluster.
        name: of the memory.
        node: where it goes; it holds a replica already.
        wait_seconds: how long it is waited for.
        keep_copy: whether this node keeps a replica; else its folder is removed at the end.

    Raises:
        UsageError: that node holds no replica; or the folder here has what no record has, so that
            it is kept, though the other node takes the writes by then.
        DivergedError: it does not get in step.
        NotPrimaryError: the node that leads did not let go in time.
    """
    if not keep_copy and node == cluster.node:
        raise UsageError(f"{node} is this machine, whose copy is to go. Name another one.")
    before = cluster.state(cluster.registry.find(name))
    was = before.holder if before.held and before.holder != node else ""
    sync(cluster, name, node, wait_seconds)  # Else writers would wait for it.
    begun = time.monotonic()
    state = cluster.promote(name, node, wait_seconds)
    seconds = round(time.monotonic() - begun, 2)
    if not keep_copy:
        drop_copy(cluster, name)
    return Shifted(state.holder, state.epoch, was, seconds, kept=keep_copy)


def drop_copy(cluster: Cluster, name: str) -> None:
    """Take this machine's copy of a memory out of the cluster, and remove its folder.

    Raises:
        UsageError: it has what no record has; nothing is removed then.
        NotPrimaryError: this node leads.
    """
    with cluster.memory(name) as copy:
        relay, root = copy.store.relay, copy.root
        assert relay is not None
        with relay.turn():
            relay.follow()
            lease = cluster.state(relay.position.place.memory)
            if lease.held and lease.holder == cluster.node:
                raise NotPrimaryError(relay.position.place.memory, why="this node leads it")
            only_here = [*find_unlogged(copy), *find_put_aside(root)]
        if only_here:
            raise UsageError(
                f"{root} has what no record has: {', '.join(only_here[:5])}. Take it elsewhere, "
                "then run 'kimi-memory deploy remove' and remove the folder yourself."
            )
    cluster.remove(name)
    remove_folder(root)


def sync(
    cluster: Cluster, name: str, node: str, wait_seconds: float = 30.0, *, since: str = ""
) -> Synced:
    """Wait until a node has carried out all that is in the log now.

    Args:
        cluster: the cluster.
        name: of the memory.
        node: that is to have it; this one follows by itself.
        wait_seconds: how long it is waited for.
        since: a version, such as ``v120``, or a time: what came after it is returned, too.

    Raises:
        UsageError: that node does not hold the memory; or no version is called so.
        HistoryError: the copy here has no history, or a shorter one.
        DivergedError: it does not get there in time; it is said why.
    """
    begun = time.monotonic()
    with cluster.memory(name) as copy:
        relay = copy.store.relay
        assert relay is not None
        count = relay.follow()
        seq = relay.position.place.seq
        news = _find_news(copy, since) if since else ()
    if node == cluster.node:
        return Synced(node, seq, count, round(time.monotonic() - begun, 2), *news)
    first = -1
    while True:
        row = next((one for one in cluster.deployments(name) if one.node == node), None)
        if row is None:
            raise UsageError(
                f"{node} does not hold {name}. Run there: kimi-memory deploy add {name} "
                "--folder PATH"
            )
        first = row.applied if first < 0 else first
        if row.applied >= seq:
            seconds = round(time.monotonic() - begun, 2)
            return Synced(node, seq, max(0, seq - first), seconds, *news)
        if time.monotonic() - begun > wait_seconds:
            why = row.why or f"it is at record {row.applied} of {seq}"
            raise DivergedError(node, why, "See that 'kimi-memory cluster run' runs there")
        time.sleep(_PAUSE_SECONDS)


def _find_news(copy: Memory, since: str) -> tuple[str, int, tuple[str, ...]]:
    """Return a version, how many came after it, and the files that differ from it."""
    old, history = copy.points.find(since).commit, copy.history
    paths = sorted({pair.path for pair in history.pairs(old) if not is_own(pair.path)})
    return since, len(history.since(old)), tuple(paths)
