"""Moving a memory between machines, and bringing one of them in step, through its log."""

from __future__ import annotations

import time

from kimi_memory.api.memory import Memory
from kimi_memory.cluster.membership import Cluster
from kimi_memory.errors import DivergedError, UsageError
from kimi_memory.lazy_dataclass import dataclass

_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Shifted:
    """A memory whose writes another node takes now."""

    node: str
    epoch: int
    was: str
    """The node that took them before; it keeps a replica. Empty for none."""
    seconds: float
    """How long nobody took any, at most."""


@dataclass(frozen=True, slots=True)
class Synced:
    """A node that has all that was written when it was asked for."""

    node: str
    seq: int
    """The last record that it had to have."""
    records: int
    """So many it had not yet."""
    seconds: float


def find_seq(memory: Memory) -> int:
    """Return the last record of its log that an open memory knows; 0 on a machine by itself."""
    return memory.store.relay.position.place.seq if memory.store.relay else 0


def migrate(cluster: Cluster, name: str, node: str, wait_seconds: float = 30.0) -> Shifted:
    """Have another node take the writes, once it has everything; this one keeps a replica.

    Args:
        cluster: the cluster.
        name: of the memory.
        node: where it goes; it holds a replica already.
        wait_seconds: how long it is waited for.

    Raises:
        UsageError: that node holds no replica.
        DivergedError: it does not get in step.
        NotPrimaryError: the node that leads did not let go in time.
    """
    before = cluster.state(cluster.registry.find(name))
    was = before.holder if before.held and before.holder != node else ""
    sync(cluster, name, node, wait_seconds)  # Else writers would wait for it.
    begun = time.monotonic()
    state = cluster.promote(name, node, wait_seconds)
    return Shifted(state.holder, state.epoch, was, round(time.monotonic() - begun, 2))


def sync(cluster: Cluster, name: str, node: str, wait_seconds: float = 30.0) -> Synced:
    """Wait until a node has carried out all that is in the log now.

    Args:
        cluster: the cluster.
        name: of the memory.
        node: that is to have it; this one follows by itself.
        wait_seconds: how long it is waited for.

    Raises:
        UsageError: that node does not hold the memory.
        DivergedError: it does not get there in time; it is said why.
    """
    begun = time.monotonic()
    with cluster.memory(name) as copy:
        relay = copy.store.relay
        assert relay is not None
        count = relay.follow()
        seq = relay.position.place.seq
    if node == cluster.node:
        return Synced(node, seq, count, round(time.monotonic() - begun, 2))
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
            return Synced(node, seq, max(0, seq - first), round(time.monotonic() - begun, 2))
        if time.monotonic() - begun > wait_seconds:
            why = row.why or f"it is at record {row.applied} of {seq}"
            raise DivergedError(node, why, "See that 'kimi-memory cluster run' runs there")
        time.sleep(_PAUSE_SECONDS)
