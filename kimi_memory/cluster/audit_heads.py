"""Carrying the ends of audit logs into a change log, where no machine can cut them any more.

A space lies on one machine, and so does the log of what was decided there: its owner could cut it
and all that knows of it on that machine. So each node says now and then where its log ends, signed,
and the node that leads puts that into the change log, which every node has and none can change.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kimi_memory.cluster.registry import Registry
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.domain.space_types import AuditHead
from kimi_memory.store.relay import Relay

FindHead = Callable[[str, Path], AuditHead | None]
"""Returns where the audit log of this node ends, for a memory by its id and folder."""
OFFER_SECONDS = 600.0
"""So often a node says where its log ends, if anything was added."""
_CARRY_SECONDS = 10.0
"""So often the node that leads looks what others said."""
_KIND = "audit"


class HeadCarrier:
    """Carries the ends of audit logs for one deployment."""

    def __init__(self, folder: Path, relay: Relay, registry: Registry, find: FindHead) -> None:
        self._folder, self._relay, self._registry, self._find = folder, relay, registry, find
        self._next = self._next_carry = 0.0
        self._offered: AuditHead | None = None
        self._carried: tuple[int, set[AuditHead]] = (0, set())
        """The epoch of a leadership of this node, and what it put meanwhile."""

    def offer(self) -> None:
        """Say where the audit log of this node ends, once in a while."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + OFFER_SECONDS
        memory = self._relay.position.place.memory
        head = self._find(memory, self._folder)
        if head is not None and head != self._offered:
            self._registry.put_audit_head(memory, head)
            self._offered = head

    def carry(self) -> None:
        """Put into the change log what nodes said; once in each leadership.

        Raises:
            NotPrimaryError: this node does not lead.
        """
        epoch = self._relay.epoch
        if self._carried[0] == epoch and time.monotonic() < self._next_carry:
            return
        self._next_carry = time.monotonic() + _CARRY_SECONDS
        if self._carried[0] != epoch:
            # A record of before may have been trimmed.
            self._carried = epoch, set()
        for head in self._registry.audit_heads(self._relay.position.place.memory):
            if head not in self._carried[1]:
                about = {name: str(value) for name, value in head._asdict().items()}
                self._relay.put("void", {"why": _KIND, **about})
                self._carried[1].add(head)


def read_carried(log: ChangeLog, memory: str) -> Iterator[tuple[int, AuditHead]]:
    """Yield what the log of a memory has of the ends of audit logs, with the number of the record.

    Raises:
        Unreachable: it does not answer.
        RefusedRecordError: no node of the cluster put a record.
    """
    after = 0
    while found := log.read(memory, after):
        for number, body in found:
            about = json.loads(body).get("about") or {}
            if about.get("why") == _KIND:
                seq = int(about["seq"])
                yield number, AuditHead(about["space"], about["node"], seq, about["hash"])
        after = found[-1][0]
