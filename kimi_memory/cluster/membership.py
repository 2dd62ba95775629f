"""A cluster, opened: its nodes, its memories, and the deployments of this machine."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kimi_memory import __version__
from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening, user_host
from kimi_memory.api.relaying import open_log
from kimi_memory.cluster.log_length import find_reached
from kimi_memory.cluster.refusals import check_copy, check_leader, check_removal
from kimi_memory.cluster.registry import DeploymentRow, Node, Registry, give_role, measure_load
from kimi_memory.cluster.renewal import renew_folder
from kimi_memory.cluster.snapshots import check_part, copy_memory, trim_log, write_snapshot
from kimi_memory.config import MARKER
from kimi_memory.domain.change_log import Lease
from kimi_memory.domain.cluster import NodeKind, Role
from kimi_memory.domain.user_tables import ClusterTable
from kimi_memory.errors import BehindError, NotPrimaryError, UsageError
from kimi_memory.store.deployment import (
    Deployment,
    drop_deployment,
    read_deployment,
    write_deployment,
)
from kimi_memory.store.guarded_log import GuardedLog

_PAUSE_SECONDS = 0.05


class Cluster:
    """One change log, seen from this machine.

    Open it with `Cluster.open`; use it as a context manager or call `close`.
    """

    def __init__(self, log: GuardedLog, node: str, opening: Opening) -> None:
        self.log, self.node, self._opening = log, node, opening
        self.registry = Registry(log)
        self._table = opening.home.settings().cluster if opening.home else ClusterTable()

    @classmethod
    def open(cls, url: str = "", opening: Opening | None = None) -> Cluster:
        """Open the cluster of the user's settings, or the one at an address.

        Args:
            url: of the change log; that of ``[cluster] url`` if empty.
            opening: how memories are opened, and where the user's settings lie.

        Raises:
            UsageError: there is none, or no plugin knows such an address.
        """
        opening = opening or Opening()
        home = opening.home or Home.of_user()
        table = home.settings().cluster
        if url and table.url and url != table.url:
            raise UsageError(
                f"{home.config / 'config.toml'} names another log ({table.url}). "
                "A machine belongs to one cluster."
            )
        log = open_log(opening.host or user_host(home), home, url or table.url)
        return cls(log, table.node or platform.node(), replace(opening, home=home))

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log."""
        self.log.close()

    def join(
        self, kind: NodeKind | None = None, region: str | None = None, zone: str | None = None
    ) -> Node:
        """Say that this machine is there; a name that is there already is renewed.

        Args:
            kind: what it is for; None leaves what was said before, or ``hybrid``.
            region: where it is; None leaves what was said before.
            zone: where in its region; None leaves what was said before.
        """
        since = f"{self._opening.clock():%Y-%m-%dT%H:%M:%SZ}"
        known = next((one for one in self.nodes() if one.name == self.node), None)
        host, key = platform.node(), self.log.keys.make()
        if known is not None and not self._is_same(known, host, key):
            raise UsageError(
                f"Node {self.node} is {known.host}. Choose another name with --node, or remove it "
                f"there with 'kimi-memory node leave'."
            )
        before = known or Node(self.node, since=since)
        node = replace(
            before,
            kind=before.kind if kind is None else kind,
            region=before.region if region is None else region,
            zone=before.zone if zone is None else zone,
            host=host, version=__version__, address=self._table.address, key=key,
            load=measure_load(),
        )  # fmt: skip
        self.registry.put_node(node)
        return node

    def _is_same(self, known: Node, host: str, key: str) -> bool:
        """Whether a node is this machine; it may have another host name, as a new container."""
        gone = known.seen_seconds > 3 * self._table.ttl  # Else there are two with one key.
        return known.host in ("", host) or (gone and bool(key) and known.key == key)

    def leave(self, *, dry_run: bool = False) -> None:
        """Take this machine out of the cluster; its deployments must be removed before.

        Raises:
            UsageError: it still holds some.
        """
        if held := self.registry.deployments(node=self.node):
            names = ", ".join(one.name for one in held)
            raise UsageError(
                f"{self.node} still holds {names}. Remove them with 'kimi-memory deploy remove'."
            )
        if not dry_run:
            self.registry.drop_node(self.node)

    def nodes(self) -> list[Node]:
        """Return the machines of the cluster."""
        return self.registry.nodes()

    def memory(
        self, name: str, *, after: int = 0, wait_seconds: float = 5.0, most_lag_ms: int = 0
    ) -> Memory:
        """Open this machine's folder of a deployed memory; what is written there is shipped.

        Args:
            name: of the memory.
            after: a record that has to be carried out here before, as `find_seq` returned it.
            wait_seconds: how long it is waited for.
            most_lag_ms: how old what is known may be; of any age if 0.

        Raises:
            UsageError: no such memory is deployed here.
            BehindError: this node did not get that far in time, or does not see the log.
        """
        row = self._find_here(self.registry.find(name))
        memory = Memory.open(row.folder, self._opening)
        relay = memory.store.relay
        looks = relay and (after or most_lag_ms)
        seq, lag = relay.position.read_at(after, wait_seconds) if relay and looks else (after, 0)
        if seq < after or (most_lag_ms and not 0 <= lag <= most_lag_ms):
            memory.close()
            raise BehindError(seq, after)
        return memory

    def deployments(self, name: str = "") -> list[DeploymentRow]:
        """Return all deployments, or those of one memory, with the role that each has now."""
        memory = self.registry.find(name) if name else ""
        return [give_role(one, self.state(one.memory)) for one in self.registry.deployments(memory)]

    def state(self, memory: str) -> Lease:
        """Return who leads a memory, given its id."""
        return self.log.state(memory)

    def deploy(self, folder: Path, *, sealed: bool = False) -> DeploymentRow:
        """Put a memory of this machine under the log; this node leads it from now on.

        Args:
            folder: the memory.
            sealed: whether the engine is to read nothing of it.

        Raises:
            UsageError: it has no history, or is deployed already.
        """
        root = folder.resolve()
        self.check_deployable(root)
        with Memory.open(root, self._opening) as memory:
            id, name = memory.settings.memory.id, memory.settings.memory.name or root.name
            memory.store.reconcile()
            memory.batch.flush("Before the memory is shared")
            extent = memory.store.journal.extent()
        if sealed:
            self.log.sealing.make(id, {self.node: self.log.keys.make()})
        write_deployment(root, Deployment(id, self.node, extent=extent))
        with Memory.open(root, self._opening) as memory:
            write_snapshot(memory)
            assert memory.store.relay is not None
            place = memory.store.relay.position.place
        row = self._describe(DeploymentRow(id, name, self.node, "primary", applied=place.seq), root)
        self.registry.put_deployment(row)
        return row

    def check_deployable(self, root: Path) -> None:
        """Refuse a folder that cannot be put under the log.

        Raises:
            UsageError: it has no history, takes no writes, or is deployed already.
        """
        if read_deployment(root) is not None:
            raise UsageError(f"{root} is deployed already. See 'kimi-memory deploy list'.")
        with Memory.open(root, self._opening) as memory:
            id, store = memory.settings.memory.id, memory.store
            if not memory.settings.history.git:
                why = "A memory without history cannot be deployed. Set history.git = true."
                raise UsageError(why)
            if store.moved or store.read_only:
                raise UsageError(f"{memory.root} takes no writes: {store.read_only}. Mend it.")
            if self.log.read(id, 0, 1):
                raise UsageError(
                    f"This memory ({id}) has a log already. Copy it from there into a new folder: "
                    "'kimi-memory deploy add NAME --folder PATH'."
                )

    def add(
        self, name: str, folder: Path, role: Role = "replica", *, keep: Sequence[str] = ()
    ) -> tuple[DeploymentRow, int]:
        """Copy a deployed memory to this machine, up to its present state.

        Args:
            name: of the memory, or its id.
            folder: a new or empty one.
            role: a replica takes over where the primary is lost, a cache never does.
            keep: tiers that a cache is to have, such as ``semantic``, and no history; all of the
                memory if empty.

        Returns:
            The deployment, and how many records followed its snapshot.

        Raises:
            UsageError: as in `check_copy`, or something else than a cache is to have a part.
        """
        check_part(keep, role)
        memory, root = self.registry.find(name), folder.absolute()
        rows = self.registry.deployments(memory)
        check_copy(rows, self.node, root)
        place = Deployment(memory, self.node, may_lead=role != "cache", keep=tuple(keep))
        count = copy_memory(self.log, place, root, self._opening)
        with Memory.open(root, self._opening) as copy:
            assert copy.store.relay is not None
            copy.store.relay.follow()
            applied = copy.store.relay.position.place.seq
        row = DeploymentRow(memory, rows[0].name, self.node, role, applied=applied)
        row = self._describe(replace(row, promote=role != "cache", keep=place.keep), root)
        self.registry.put_deployment(row)
        return row, count

    def repair(self, name: str) -> list[str]:
        """Make this machine's folder anew from the last snapshot; return the files put aside.

        Raises:
            NotPrimaryError: this node leads.
            UsageError: there is no snapshot.
        """
        row = self._find_here(self.registry.find(name))
        kept = renew_folder(self.log, Path(row.folder), self._opening)
        with Memory.open(row.folder, self._opening) as memory:
            assert memory.store.relay is not None
            memory.store.relay.follow()
            applied = memory.store.relay.position.place.seq
        self.registry.put_reached(row.memory, self.node, applied, kept)
        self.registry.put_deployment(replace(row, status="active", why="", applied=applied))
        return kept

    def trim(self, name: str, *, dry_run: bool = False, wait_seconds: float = 5.0) -> int:
        """Destroy the records that every deployment has carried out; return how many.

        A snapshot is made before, so that the log begins with one; new copies begin there.

        Args:
            name: of a memory that this node leads.
            dry_run: only count what would go without a new snapshot.
            wait_seconds: how long the others are waited for, to get as far as that.

        Raises:
            NotPrimaryError: another node leads.
        """
        with self.memory(name) as memory:
            relay = memory.store.relay
            assert relay is not None
            id = relay.position.place.memory
            if dry_run:
                return trim_log(self.log, id, self._find_reached(id) + 1, dry_run=True)
            snapshot = write_snapshot(memory)
            end = time.monotonic() + wait_seconds
            while self._find_reached(id) < snapshot - 1 and time.monotonic() < end:
                time.sleep(_PAUSE_SECONDS)
            with relay.turn():
                relay.lead()
                return trim_log(self.log, id, self._find_reached(id) + 1)

    def _find_reached(self, memory: str) -> int:
        return find_reached(self.registry.deployments(memory), self.node)

    def remove(self, name: str) -> DeploymentRow:
        """Make this machine's folder a plain copy again; nothing in it is removed.

        Raises:
            UsageError: as in `check_removal`.
        """
        row = self._find_here(self.registry.find(name))
        state = self.state(row.memory)
        check_removal(row, self.registry.deployments(row.memory), state)
        if state.held and state.holder == self.node:
            self.log.release(row.memory, self.node, state.epoch)
        with self.memory(name) as copy:
            assert copy.store.relay is not None
            with copy.store.relay.turn():  # Others of this node may be about to say how far it is.
                drop_deployment(copy.root)
        self.registry.drop_deployment(row.memory, self.node)
        return row

    def promote(self, name: str, node: str = "", wait_seconds: float = 30.0) -> Lease:
        """Have a node lead a memory; the one that leads finishes what it has begun.

        Args:
            name: of the memory.
            node: that is to lead; this one if empty.
            wait_seconds: how long to wait for that.

        Raises:
            UsageError: the node does not hold it, or may not lead.
            NotPrimaryError: the other node did not let go in time.
        """
        memory, node = self.registry.find(name), node or self.node
        check_leader(self.registry.deployments(memory), name, node)
        self.registry.put_wish(memory, node)
        end = time.monotonic() + wait_seconds
        try:
            while not self._try_promote(memory, node):
                if time.monotonic() > end:
                    holder = self.state(memory).holder
                    raise NotPrimaryError(memory, why=f"{holder} did not let go of it in time")
                time.sleep(_PAUSE_SECONDS)
        finally:
            self.registry.put_wish(memory, "")
        return self.state(memory)

    def _try_promote(self, memory: str, node: str) -> bool:
        state = self.state(memory)
        if state.held:
            return state.holder == node
        if node == self.node:
            with self.memory(memory) as copy:
                assert copy.store.relay is not None
                return copy.store.relay.leads()
        return False

    def demote(self, name: str) -> None:
        """Have this node stop leading a memory at once, so that another can begin.

        Raises:
            NotPrimaryError: it does not lead.
        """
        with self.memory(name) as memory:
            relay = memory.store.relay
            assert relay is not None
            state = self.state(relay.position.place.memory)
            if not (state.held and state.holder == self.node):
                holder = state.holder if state.held else ""
                raise NotPrimaryError(relay.position.place.memory, holder)
            memory.batch.flush()
            relay.step_down()

    def _find_here(self, memory: str) -> DeploymentRow:
        rows = self.registry.deployments(memory, self.node)
        if not rows:
            raise UsageError(
                f"{memory} is not deployed on {self.node}. Copy it here with 'kimi-memory deploy "
                "add'."
            )
        if not (Path(rows[0].folder) / MARKER).is_file():
            raise UsageError(
                f"{rows[0].folder} is gone. Run 'kimi-memory deploy remove', then add."
            )
        # A row is what somebody wrote into the log; the folder itself says what it is.
        place = read_deployment(Path(rows[0].folder))
        if place is None or place.memory != memory:
            raise UsageError(f"{rows[0].folder} is no deployment of {memory}. Drop that row.")
        return rows[0]

    def _describe(self, row: DeploymentRow, root: Path) -> DeploymentRow:
        at = f"{self._opening.clock():%Y-%m-%dT%H:%M:%SZ}"
        return replace(row, status="active", folder=str(root), deployed=at)
