"""What the API answers about a memory on several machines; it names no place on any disk."""

from __future__ import annotations

from kimi_memory.domain.cluster import NodeKind, Role
from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ClusterState:
    """Who leads a memory, and how far this node got in its log."""

    memory: str
    node: str
    """The one that answers."""
    leader: str
    """The one that takes the writes; empty for nobody at the moment."""
    address: str
    """Where the leader is served; empty where nobody said so."""
    epoch: int
    """Number of its leadership."""
    left_seconds: float
    """How long that lasts unless it is renewed, by the clock of the engine."""
    seq: int
    """The last record that this node has carried out."""
    lag_ms: int
    """For how long it has not seen the end of the log; -1 where it never did."""
    may_lead: bool
    """Whether this node may take over."""
    why: str = ""
    """Why it carries out nothing more; empty for a sound one."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A machine of the cluster."""

    name: str
    kind: NodeKind
    use_case: str
    region: str
    zone: str
    status: str
    load: int
    """0 to 100."""
    seen_seconds: float
    """How long ago it said that it is there, by the clock of the engine."""
    since: str
    version: str
    key: str = ""
    """Its public key; empty where it signs nothing."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A memory on one machine, as that machine last described it."""

    memory: str
    name: str
    node: str
    role: Role
    status: str
    why: str
    applied: int
    epoch: int
    lag_records: int
    lag_ms: int
    bytes: int
    durability: str
    promote: bool
    deployed: str
    synced: str
    seen_seconds: float
    address: str = ""
    """Where it is served; empty where nobody said so."""


@dataclass(frozen=True, slots=True)
class Led:
    """The machine that takes the writes of a memory now."""

    node: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A machine that was not taken, and why."""

    node: str
    why: str


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a task would run, and why there."""

    mode: str
    reasoning: str
    execution: str
    score: int
    why: str
    refused: tuple[Refused, ...] = ()
