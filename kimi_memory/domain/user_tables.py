"""Tables of the user's own ``config.toml``."""

from __future__ import annotations

from typing import Literal, NamedTuple


class SigningTable(NamedTuple):
    """``[signing]`` of the user's ``config.toml``"""

    key: str = ""
    """File of an SSH key; the public one where an agent holds the other. Empty signs nothing."""
    when: Literal["commit", "sync"] = "commit"
    """Whether each commit is signed, or only the last one before it leaves this copy."""


class ClusterTable(NamedTuple):
    """``[cluster]`` of the user's ``config.toml``; a memory folder has no say in it."""

    url: str = ""
    """The change log that memories are deployed over; empty for a machine by itself."""
    node: str = ""
    """How this machine is called there."""
    registry: str = ""
    """Where nodes and deployments are listed; beside the change log if empty."""
    address: str = ""
    """Of this machine's HTTP server, as programs elsewhere reach it; they are sent on there."""
    folder: str = ""
    """Where copies are laid that other machines of the cluster ask for; they get none if empty."""
    trust: Literal["first-seen", "listed"] = "first-seen"
    """Whether the key of a node counts that is seen first, or those in ``cluster_nodes`` alone."""
    ttl: float = 6.0
    """Seconds after which another node may take over from one that is silent."""
    wait_seconds: float = 10.0
    """How long a write waits for a log that does not answer."""
    keep_days: float = 7.0
    """Records of a log that every node has are destroyed once they are that old."""
    snapshot_records: int = 5000
    """After so many records the log gets a new place to begin at."""


AGENT_KEYS = (
    *("command", "runtime", "model", "skills", "env", "context", "network", "roots"),
    *("cpu_s", "wall_s", "memory_mb", "output_bytes"),
)
"""What ``[agents.<name>]`` of the user's ``config.toml`` may say."""
