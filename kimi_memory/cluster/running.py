"""The service of a node: it follows what others write, leads where it must, and says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cluster.asking import answer_questions
from kimi_memory.cluster.audit_heads import FindHead, HeadCarrier
from kimi_memory.cluster.log_length import keep_short
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.proposals import Proposer, take_proposals
from kimi_memory.cluster.registry import DeploymentRow, Registry, Status
from kimi_memory.cluster.renewal import find_put_aside, finish_renewal
from kimi_memory.config import MARKER
from kimi_memory.domain.change_log import Unreachable
from kimi_memory.domain.user_tables import ClusterTable
from kimi_memory.errors import (
    DivergedError,
    KimiMemoryError,
    NotPrimaryError,
    RefusedRecordError,
    StoreError,
)
from kimi_memory.store.deployment import is_deployed
from kimi_memory.store.notes.sessions import find_kept
from kimi_memory.store.relay import Relay

_REPORT_SECONDS = 1.0
_LOOK_SECONDS, _LOOK_SHARE = 2.0, 20
"""So often a folder that follows is searched for edits, and for what share of the time at most."""
_TRIM_SECONDS = 600.0
"""So often the node that leads looks whether the log has grown too long."""
_MEASURE_SECONDS = 300.0
_RANK_SECONDS = 0.25
"""So much later each further replica tries to take over."""
Say = Callable[[str], None]


def find_no_head(memory: str, root: Path) -> None:
    """Know of no audit log: the memories here belong to no space."""


class Keeper:
    """Keeps one deployment of this node in step, in a thread of its own."""

    def __init__(
        self, cluster: Cluster, row: DeploymentRow, opening: Opening, ttl: float, say: Say
    ) -> None:
        self._cluster = cluster
        self._row, self._opening, self._ttl, self._say = row, opening, ttl, say
        self._folder = Path(row.folder)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"cluster-{row.name}", daemon=True)
        self._reported = 0.0
        self._yielded_until = 0.0
        self._looked = False
        self._next_look = self._next_measure = 0.0
        self._bytes, self._synced = 0, ""
        self._next_trim = time.monotonic() + _TRIM_SECONDS
        self._told = set[str]()
        self.leads = False
        self.find_head: FindHead = find_no_head
        """Tells where the audit log of this node ends."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def lives(self) -> bool:
        """Whether it goes on; it ends where the folder is made a plain copy."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End; a node that leads lets go, so that nobody has to wait for the end of its time."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._keep_in_step():
                    self._renew()
            except (KimiMemoryError, Unreachable) as error:
                self._say(f"{self._row.name}: {error}")
                self._stop.wait(min(1.0, self._ttl / 3))

    def _renew(self) -> None:
        """Make the folder anew, as the log goes on from a snapshot."""
        self._looked = False
        kept = self._cluster.repair(self._row.memory)
        aside = f"; put aside in .kimi/lost+found: {', '.join(kept)}" if kept else ""
        self._say(f"{self._row.name}: this folder was made anew from a snapshot{aside}")

    def _keep_in_step(self) -> bool:
        """Follow or lead until the end; True where the folder has to be made anew instead."""
        finish_renewal(self._folder, self._opening)
        with Memory.open(self._folder, self._opening) as memory:
            relay = memory.store.relay
            if relay is None:
                self._end_keeping()
                return False
            registry = Registry(relay.position.log)
            proposer = Proposer(memory, relay, registry)
            self._carrier = HeadCarrier(self._folder, relay, registry, self.find_head)
            while not self._stop.is_set():
                if not is_deployed(self._folder):
                    self._end_keeping()
                    return False
                self._turn_once(memory, relay, proposer)
                if relay.position.needs_snapshot:
                    return True
            if self.leads:
                with suppress(KimiMemoryError, Unreachable):
                    memory.batch.flush()
                    relay.step_down()
        return False

    def _end_keeping(self) -> None:
        """End: the folder was made a plain copy."""
        self._stop.set()
        self.leads = False
        self._say(f"{self._row.name}: {self._folder} is a plain copy now")

    def _turn_once(self, memory: Memory, relay: Relay, proposer: Proposer) -> None:
        place, registry, led = relay.position.place, proposer.registry, self.leads
        why = ""
        try:
            if self.leads:
                self._go_on_leading(memory, relay, registry)
            else:
                relay.follow()
                self._propose(proposer)
                self._lead_if_due(memory, relay, registry)
        except DivergedError as error:
            why = error.why
            if isinstance(error, RefusedRecordError) and str(error) not in self._told:
                self._told.add(str(error))
                self._say(f"{self._row.name}: {error}")
        if time.monotonic() - self._reported >= _REPORT_SECONDS:
            self._report(memory, relay, registry, why)
        if why and not relay.position.needs_snapshot:
            self._stop.wait(self._ttl)
        elif self.leads and led:  # One that has just begun looks first who is to lead.
            registry.await_wish(place.memory, self._ttl / 6)
        elif not (why or self.leads):
            relay.position.log.wait(place.memory, relay.position.place.seq, self._ttl / 6)

    def _go_on_leading(self, memory: Memory, relay: Relay, registry: Registry) -> None:
        place = relay.position.place
        wish = registry.wish(place.memory)
        if wish and wish != place.node:
            with suppress(KimiMemoryError):
                memory.batch.flush()
            relay.step_down()
            self._end_leading(f"{wish} is to lead")
            self._yielded_until = time.monotonic() + self._ttl
            return
        # Other processes of this node may have stepped down, or begun anew.
        state = relay.position.log.state(place.memory)
        if not (state.held and state.holder == place.node):
            self._end_leading(f"{state.holder or 'nobody'} leads")
            return
        relay.lead()
        relay.renew()
        self._write_what_waits(memory, relay, registry)

    def _write_what_waits(self, memory: Memory, relay: Relay, registry: Registry) -> None:
        """Put into the log what this node kept, and what others propose."""
        memory.take_kept()
        self._carrier.carry()
        for line in take_proposals(memory, relay, registry):
            # What waits for room on the disk is said once, and not at each look.
            if not line.endswith(": taken"):
                if line in self._told:
                    continue
                self._told.add(line)
            self._say(f"{self._row.name}: {line}")
        if time.monotonic() >= self._next_trim:
            self._next_trim = time.monotonic() + _TRIM_SECONDS
            table = memory.home.settings().cluster
            with suppress(NotPrimaryError, StoreError):  # Others kept writing: the next time.
                made, gone = keep_short(memory, relay, registry, table)
                if made or gone:
                    self._say(f"{self._row.name}: snapshot {made or '-'}, {gone} records trimmed")

    def _propose(self, proposer: Proposer) -> None:
        """Propose what this node kept, and what was edited in its folder."""
        looks = time.monotonic() >= self._next_look
        begun = time.monotonic()
        proposer.propose(edits=looks)
        if looks:
            now = time.monotonic()
            self._next_look = now + max(_LOOK_SECONDS, _LOOK_SHARE * (now - begun))
        for path in proposer.refused.keys() - self._told:
            self._told.add(path)
            self._say(f"{self._row.name}: {path} was not taken: {proposer.refused[path]}")

    def _end_leading(self, why: str) -> None:
        self.leads = False
        self._yielded_until = time.monotonic() + self._ttl
        self._say(f"{self._row.name}: this node stopped leading: {why}")

    def _lead_if_due(self, memory: Memory, relay: Relay, registry: Registry) -> None:
        place, log = relay.position.place, relay.position.log
        state = log.state(place.memory)
        mine = state.held and state.holder == place.node
        if (state.held and not mine) or not place.may_lead:
            return
        wish = registry.wish(place.memory)
        if not mine and wish != place.node:
            if wish or time.monotonic() < self._yielded_until:
                return
            self._stop.wait(_RANK_SECONDS * self._find_rank(registry))
        with suppress(NotPrimaryError):
            relay.lead()
            self.leads = True
            self._say(f"{self._row.name}: this node leads (epoch {relay.epoch})")
            memory.store.reconcile()  # What was edited here while it followed is shipped now.

    def _find_rank(self, registry: Registry) -> int:
        """Return how many nodes try before this one: those that got further, then by name."""
        rows = registry.deployments(self._row.memory)
        fit = [one for one in rows if one.promote and one.seen_seconds < 3 * self._ttl]
        order = sorted(fit, key=lambda one: (-one.applied, one.node))
        return next((n for n, one in enumerate(order) if one.node == self._row.node), len(order))

    def _report(self, memory: Memory, relay: Relay, registry: Registry, why: str) -> None:
        place, log = relay.position.place, relay.position.log
        behind = 0 if self.leads or why else len(log.read(place.memory, place.seq))
        status: Status = "inactive" if why else ("syncing" if behind else "active")
        if not (behind or why):
            self._synced = f"{memory.clock():%Y-%m-%dT%H:%M:%SZ}"
        registry.put_deployment(
            replace(
                self._row,
                role="primary" if self.leads else self._row.role,
                status=status,
                why=why,
                applied=place.seq,
                epoch=relay.epoch,
                lag_records=behind,
                lag_ms=relay.position.lag_ms,
                synced=self._synced,
                bytes=self._measure(memory),
                durability="local" if find_kept(memory.store) else "replicated",
            )
        )
        if not is_deployed(self._folder):  # Removed while this was written.
            registry.drop_deployment(self._row.memory, self._row.node)
        self._look_at_kept(registry)
        self._carrier.offer()
        self._reported = time.monotonic()

    def _measure(self, memory: Memory) -> int:
        """Return the size of all files, measured once in a while."""
        if time.monotonic() >= self._next_measure:
            self._next_measure = time.monotonic() + _MEASURE_SECONDS
            self._bytes = sum(memory.store.size(path) for path in memory.store.files())
        return self._bytes

    def _look_at_kept(self, registry: Registry) -> None:
        """Say that a purge is done here, once a person has looked through what was put aside."""
        if not self._looked:
            reached = registry.reached(self._row.memory, self._row.node)
            self._looked = not (reached.get("kept") and find_put_aside(self._folder))
            if self._looked and reached.get("kept"):
                registry.put_reached(self._row.memory, self._row.node, reached["seq"])


class Service:
    """All deployments of this node.

    Args:
        cluster: opened.
        opening: how their folders are opened.
        say: receives a line for each thing that happens.
        find_head: tells where the audit log of this node ends, for memories of a space.
    """

    def __init__(
        self, cluster: Cluster, opening: Opening, say: Say, find_head: FindHead = find_no_head
    ) -> None:
        self._cluster, self._opening, self._say = cluster, opening, say
        self._find_head = find_head
        self._keepers: dict[str, Keeper] = {}

    def run(self, stopped: Callable[[float], bool]) -> None:
        """Keep the deployments of this node in step until `stopped` says so.

        Args:
            stopped: waits so many seconds, and tells whether to end.
        """
        home = self._opening.home
        table = home.settings().cluster if home is not None else ClusterTable()
        self._say(f"{self._cluster.node} keeps its deployments over {self._cluster.log.name}")
        try:
            while not stopped(min(1.0, table.ttl / 3)):
                try:
                    self._cluster.join()
                    self._start_new(table.ttl)
                    for line in answer_questions(self._cluster, table.folder):
                        self._say(line)
                except Unreachable as error:
                    self._say(f"the log does not answer: {error}")
        finally:
            for keeper in self._keepers.values():
                keeper.stop()

    def _start_new(self, ttl: float) -> None:
        for row in self._cluster.registry.deployments(node=self._cluster.node):
            known = self._keepers.get(row.memory)
            if (known and known.lives) or not (Path(row.folder) / MARKER).is_file():
                continue
            keeper = Keeper(self._cluster, row, self._opening, ttl, self._say)
            keeper.find_head = self._find_head
            self._keepers[row.memory] = keeper
            keeper.start()
