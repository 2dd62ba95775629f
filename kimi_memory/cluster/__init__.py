"""Memories on several machines: nodes, deployments, and which of them leads."""

from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.moving import find_seq

__all__ = ["Cluster", "find_seq"]
