"""How long a log gets: snapshots and trimming by themselves, on the node that leads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

from kimi_memory.api.memory import Memory
from kimi_memory.cluster.registry import DeploymentRow, Registry
from kimi_memory.cluster.snapshots import trim_log, write_snapshot
from kimi_memory.domain.ids import moment
from kimi_memory.domain.user_tables import ClusterTable
from kimi_memory.formats.log_record import is_snapshot
from kimi_memory.store.relay import Relay


def keep_short(
    memory: Memory, relay: Relay, registry: Registry, table: ClusterTable
) -> tuple[int, int]:
    """Put a snapshot into the log where one is due, and destroy old records that all nodes have.

    A node that nobody saw for as long as records are kept holds nothing back: when it comes back,
    its folder is made anew from the snapshot.

    Args:
        memory: one that this node leads.
        relay: of it.
        registry: the deployments.
        table: when a snapshot is due, and how long records are kept.

    Returns:
        The number of the new snapshot's record, 0 for none; and how many records were destroyed.

    Raises:
        NotPrimaryError: this node does not lead any more.
        StoreError: others kept writing while a snapshot was made.
    """
    place, log = relay.position.place, relay.position.log
    newest, old, seq = 0, 0, 0
    until = memory.clock() - timedelta(days=table.keep_days)
    while found := log.read(place.memory, seq):
        for seq, body in found:
            if is_snapshot(body):
                newest = seq
                old = seq if moment(json.loads(body)["at"]) <= until else old
    made = write_snapshot(memory) if seq - newest >= table.snapshot_records else 0
    reached = find_reached(registry.deployments(place.memory), place.node, table.keep_days)
    if not old or log.read(place.memory, 0, 1)[0][0] >= min(old, reached + 1):
        return made, 0
    with relay.turn():
        relay.lead()
        return made, trim_log(log, place.memory, min(old, reached + 1))


def find_reached(rows: Iterable[DeploymentRow], node: str, days: float = 1e9) -> int:
    """Return the last record that all other nodes have carried out.

    Args:
        rows: the deployments of the memory.
        node: the one that leads.
        days: who was not seen for so long does not count.
    """
    others = (one for one in rows if one.node != node and one.seen_seconds < days * 86400)
    return min((one.applied for one in others), default=1 << 62)
