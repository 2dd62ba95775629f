"""What a machine is in a cluster, and what stands in its registry of nodes and deployments."""

from __future__ import annotations

from typing import Literal, NamedTuple

NodeKind = Literal["reasoning", "execution", "hybrid"]
Role = Literal["primary", "replica", "cache"]


class ClusterTable(NamedTuple):
    """``[cluster]`` of the user's ``config.toml``; a memory folder has no say in it."""

    url: str = ""
    """The change log that memories are deployed over; empty for a machine by itself."""
    node: str = ""
    """How this machine is called there."""
    ttl: float = 6.0
    """Seconds after which another node may take over from one that is silent."""
    wait_seconds: float = 10.0
    """How long a write waits for a log that does not answer."""
