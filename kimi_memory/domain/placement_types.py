"""Where a task can run: what machines offer, how far they are from each other, what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from kimi_memory.domain.cluster import NodeKind, Role

UseCase = Literal["", "low-latency", "offline", "edge"]
NodeStatus = Literal["online", "offline", "busy", "maintenance"]
Mode = Literal["separated", "hybrid"]


class Capabilities(NamedTuple):
    """What a machine can do."""

    gpu: bool = False
    providers: tuple[str, ...] = ()
    """Providers of models that it reaches."""
    max_memories: int = 0
    """So many memories it keeps; no bound if 0."""
    runtimes: tuple[str, ...] = ("process",)
    languages: tuple[str, ...] = ()


class Resources(NamedTuple):
    """What a machine has."""

    cpu: float = 0.0
    memory_mb: int = 0
    disk_mb: int = 0
    gpu_mb: int = 0


class Permissions(NamedTuple):
    """What a machine lets its runs do."""

    sudo: bool = False
    filesystem: Literal["work", "none", "all"] = "work"
    network: bool = False
    docker: bool = False

    @property
    def granted(self) -> frozenset[str]:
        """The names of what is permitted; a run's own folder is no permission."""
        named = {name for name in ("sudo", "network", "docker") if getattr(self, name)}
        return frozenset(named | ({"filesystem"} if self.filesystem == "all" else set()))


class NodeProfile(NamedTuple):
    """A machine as placement sees it."""

    name: str
    kind: NodeKind = "hybrid"
    use_case: UseCase = ""
    region: str = ""
    zone: str = ""
    endpoint: str = ""
    key: str = ""
    """Its public key, never a token."""
    capabilities: Capabilities = Capabilities()
    resources: Resources = Resources()
    permissions: Permissions = Permissions()
    labels: Mapping[str, str] = MappingProxyType({})
    status: NodeStatus = "online"
    load: int = 0
    """0 to 100."""
    seen_seconds: float = 0.0
    since: str = ""
    version: str = ""


class Latency(NamedTuple):
    """The time to another machine and back, on one clock."""

    a: str
    b: str
    p50_ms: float
    p95_ms: float = 0.0
    n: int = 0
    at: str = ""


class Refusal(NamedTuple):
    """A machine that was not taken, and why."""

    node: str
    why: str


class Placement(NamedTuple):
    """Where a task runs, and why there."""

    mode: Mode
    reasoning: str
    execution: str
    score: int
    why: str
    refused: tuple[Refusal, ...] = ()


Deployed = Mapping[str, Role]
"""What a memory is on each node that has it."""
