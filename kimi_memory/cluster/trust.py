"""Whom a node believes, and who can read a log: keys of nodes, and keys that seal."""

from __future__ import annotations

from collections.abc import Collection

from kimi_memory.cluster.membership import Cluster
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.node_keys import fingerprint


@dataclass(frozen=True, slots=True)
class NodeKey:
    """The public key of a node."""

    node: str
    key: str
    fingerprint: str
    """As ``ssh-keygen -l`` shows it."""


@dataclass(frozen=True, slots=True)
class Sealing:
    """How the log of a memory is sealed."""

    key: int
    """Number of the key; each new one is one more."""
    nodes: tuple[str, ...]
    """That can read what it seals."""
    records: int = 0
    """So many older ones were destroyed."""


def own_key(cluster: Cluster) -> NodeKey:
    """Return the public key of this node; it is made where there is none.

    Raises:
        UsageError: the library that makes it is not there.
    """
    key = cluster.log.keys.make()
    if not key:
        raise UsageError("Keys need the library cryptography. Install kimi-memory[cluster].")
    return NodeKey(cluster.node, key, fingerprint(key))


def trust_node(cluster: Cluster, node: str, key: str = "", *, dry_run: bool = False) -> NodeKey:
    """Believe on this machine what a key signs in the name of a node.

    Older keys of it go on counting, for older records, until their line is removed.

    Args:
        cluster: the cluster.
        node: the node.
        key: its public key; the one that it says it has if empty.
        dry_run: only return the key.

    Raises:
        UsageError: it says none, or that is no key.
    """
    key = key or next((one.key for one in cluster.nodes() if one.name == node), "")
    if not key:
        raise UsageError(
            f"{node} has no key in the log. Run 'kimi-memory node join' there, or give the key."
        )
    found = NodeKey(node, " ".join(key.split()[:2]), fingerprint(key))
    if node == cluster.node:
        raise UsageError(f"{node} is this machine. Its own key is known to it.")
    if not dry_run:
        cluster.log.keys.trust(node, found.key)
    return found


def seal_log(
    cluster: Cluster, name: str, *, to: str = "", without: Collection[str] = ()
) -> Sealing:
    """Seal the log of a memory, so that its engine reads nothing of what is written.

    With `to`, one more node can read what is sealed. Else what is written from now on gets a new
    key, for the nodes that hold the memory; older records are destroyed where all nodes have them.
    What a node could read once, it can go on reading.

    Args:
        cluster: the cluster; this node leads the memory.
        name: of the memory.
        to: a node that is to read it as well.
        without: nodes that are not to read what comes.

    Raises:
        UsageError: a node has no key that is known here.
        NotPrimaryError: another node leads.
    """
    memory, keys = cluster.registry.find(name), cluster.log.sealing
    if to:
        if not keys.share(memory, to, find_key(cluster, to)):
            raise UsageError(f"The log of {name} is not sealed for this node.")
        return Sealing(keys.entries(memory)[-1].number, tuple(keys.entries(memory)[-1].to))
    names = {one.node for one in cluster.registry.deployments(memory)} - {*without}
    with cluster.memory(name) as opened:
        assert opened.store.relay is not None
        opened.store.relay.lead()
    number = keys.make(memory, {one: find_key(cluster, one) for one in sorted(names)})
    return Sealing(number, tuple(sorted(names)), cluster.trim(name))


def find_key(cluster: Cluster, node: str) -> str:
    """Return the public key that this machine knows a node by.

    Raises:
        UsageError: it knows none.
    """
    if node == cluster.node:
        return own_key(cluster).key
    known = cluster.log.find_keys(node)
    if not known:
        raise UsageError(
            f"The key of {node} is not known here. Compare it, and run 'kimi-memory node trust "
            f"{node}'."
        )
    return known[-1]
