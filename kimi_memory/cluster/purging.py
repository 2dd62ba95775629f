"""Purging a deployed memory: in the folder that leads, in the log, and in every other folder.

The folder that leads is purged and proven as any is. Its new history goes beside the log as a
bundle, a record says so, and everything before that record is destroyed. Every other node makes
its folder anew from the bundle, and says when it has.
"""

from __future__ import annotations

import time
from typing import Literal

from kimi_memory.api.memory import Memory
from kimi_memory.cluster.proposals import take_proposals
from kimi_memory.cluster.reaching import name_silent_engine
from kimi_memory.cluster.registry import Registry
from kimi_memory.cluster.snapshots import keep_blob, trim_log
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.bundles import export_bundle
from kimi_memory.operations.forget import Doomed, PurgeReport, purge
from kimi_memory.operations.new_folders import borrow_folder
from kimi_memory.store.relay import Relay

LONGEST_SECONDS = 600.0
"""So long this node leads without renewing that, at most: nobody else may begin meanwhile."""
_PAUSE_SECONDS = 0.1
_UNFINISHED = "a purge was begun here and did not reach the log"


@dataclass(frozen=True, slots=True)
class PurgedNode:
    """What became of a purge on one node."""

    node: str
    state: Literal["proven", "renewed", "left"]
    """Searched byte by byte, made anew without it, or it may still be there."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class SharedPurge:
    """What became of a purge of a memory on several machines."""

    report: PurgeReport
    records: int = 0
    """So many records of the log were destroyed."""
    nodes: tuple[PurgedNode, ...] = ()


@name_silent_engine()
def purge_shared(memory: Memory, doomed: Doomed, *, wait_seconds: float = 15.0) -> SharedPurge:
    """Purge a memory on the node that leads it, in the log, and on every other node.

    Args:
        memory: an open deployment.
        doomed: what is to go.
        wait_seconds: how long the other nodes are waited for.

    Raises:
        NotPrimaryError: another node leads; nothing was done.
        RemoteError: the engine of the log does not answer; run it again.
        HistoryError: the repository cannot be rewritten; nothing was changed.
        StoreError: the proof found a place that still holds a text; it is named.
    """
    relay, store = memory.store.relay, memory.store
    if relay is None:
        raise UsageError(f"{memory.root} is not deployed.")
    take_proposals(memory, relay, Registry(relay.position.log))
    memory.take_kept()
    with store.lock("job"), store.lock("store"), relay.turn():
        unfinished = relay.position.place.broken == _UNFINISHED
        if unfinished:
            relay.position.mark_broken("")
        relay.hold(LONGEST_SECONDS)
        report = _purge_here(memory, relay, doomed)
        if not (report.done or unfinished):
            relay.position.mark_broken("")
            relay.renew()
            return SharedPurge(report)
        records = _put_purge(memory, relay, report)
    place, log = relay.position.place, relay.position.log
    Registry(log).put_reached(place.memory, place.node, place.seq)
    end = time.monotonic() + wait_seconds
    while True:
        nodes = list_purged_nodes(log, place.memory, place.node)
        if all(one.state != "left" for one in nodes) or time.monotonic() > end:
            return SharedPurge(report, records, tuple(nodes))
        time.sleep(_PAUSE_SECONDS)


def _purge_here(memory: Memory, relay: Relay, doomed: Doomed) -> PurgeReport:
    """Purge this folder; nothing else is done with it before the log says so."""
    relay.position.mark_broken(_UNFINISHED)
    try:
        with memory.store.apart():
            return purge(memory, doomed, yes=True)
    except (HistoryError, NotFoundError, UsageError):  # Nothing was changed.
        relay.position.mark_broken("")
        relay.renew()
        raise


def _put_purge(memory: Memory, relay: Relay, report: PurgeReport) -> int:
    """Have the log begin at a record that says what was purged; return how many went."""
    with memory.store.apart(), borrow_folder() as work:
        written = export_bundle(memory, work / "memory.bundle")
        content = (work / "memory.bundle").read_bytes()
    about = {"commit": written.commit, "purge": report.id, "bundle": keep_blob(relay, content)}
    seq = relay.put("purge", about)
    relay.position.mark_broken("")
    place, log = relay.position.place, relay.position.log
    registry = Registry(log)
    registry.put_purge(place.memory, seq)
    for key in registry.proposals(place.memory):
        registry.drop_proposal(key)
    records = trim_log(log, place.memory, seq)
    relay.renew()
    return records


def list_purged_nodes(log: ChangeLog, memory: str, proven: str = "") -> list[PurgedNode]:
    """Return what became of the last purge on every node; nothing where none was made."""
    registry = Registry(log)
    seq, found = registry.last_purge(memory), []
    for row in registry.deployments(memory) if seq else ():
        reached = registry.reached(memory, row.node)
        kept = list(map(str, reached.get("kept", ())))
        if reached.get("seq", 0) < seq:
            why = f"it has not followed yet; it was there {row.seen_seconds:.0f} s ago"
            found.append(PurgedNode(row.node, "left", why))
        elif kept:
            why = f"{row.folder}/.kimi/lost+found has what no record has: {', '.join(kept[:3])}"
            found.append(PurgedNode(row.node, "left", why))
        else:
            found.append(PurgedNode(row.node, "proven" if row.node == proven else "renewed"))
    return found
