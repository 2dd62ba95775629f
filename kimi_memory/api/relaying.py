"""A deployed memory: what ships its changes, or refuses them, made from the user's settings."""

from __future__ import annotations

import platform
from functools import partial
from typing import TYPE_CHECKING

from kimi_memory.domain.change_log import ChangeLog, Rows
from kimi_memory.errors import NotPrimaryError, PluginError, UsageError
from kimi_memory.store.deployment import Deployment, Kept, Terms, read_deployment
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.follow_commit import follow_commit
from kimi_memory.store.guarded_log import GuardedLog
from kimi_memory.store.log_replay import Means, Replayer
from kimi_memory.store.logged_content import read_logged as log_content
from kimi_memory.store.node_keys import NodeKeys
from kimi_memory.store.relay import Relay
from kimi_memory.store.shipped_commits import CommitShipping

if TYPE_CHECKING:
    from kimi_memory.api.options import Home, Parts
    from kimi_memory.domain.change_log import LoggedCommit
    from kimi_memory.domain.user_tables import ClusterTable
    from kimi_memory.hooks.host import Host
    from kimi_memory.store.files.tree import Tree
    from kimi_memory.store.wal.journal import Journal
    from kimi_memory.store.wal.transaction import Transactions


def open_log(host: Host, home: Home, url: str) -> GuardedLog:
    """Open the change logs at an address, with the keys of this node.

    Raises:
        UsageError: no plugin knows such an address.
    """
    if not url:
        raise UsageError(
            "No cluster is set up. Write [cluster] with url and node into your config.toml, or "
            "run 'kimi-memory node join'."
        )
    try:
        found: ChangeLog | None = host.answer("open_log", url=url)
    except PluginError as error:
        raise UsageError(f"The change log cannot be opened: {error}") from error
    if found is None:
        scheme = url.partition("://")[0]
        known = "postgres://, s3://, nats:// or folder://"
        raise UsageError(f"No plugin opens a log of {scheme}://. Write {known}.")
    table = home.settings().cluster
    node = table.node or platform.node()
    keys = NodeKeys(home.config, home.state, node, listed=table.trust == "listed")
    return GuardedLog(found, keys, _open_registry(host, table.registry))


def _open_registry(host: Host, url: str) -> Rows | None:
    if not url:
        return None
    try:
        found: Rows | None = host.answer("open_registry", url=url)
    except PluginError as error:
        raise UsageError(f"The registry cannot be opened: {error}") from error
    if found is None:
        scheme = url.partition("://")[0]
        raise UsageError(f"No plugin keeps a registry at {scheme}://. Write postgres:// there.")
    return found


def attach_relay(parts: Parts, deployment: Deployment | None = None) -> Relay:
    """Have a memory ship what is written in it; the engine is asked at the first write.

    Raises:
        DivergedError: what the folder knows of its deployment is damaged.
    """
    place = deployment or read_deployment(parts.root)
    assert place is not None
    table = parts.home.settings().cluster
    relay = Relay(
        partial(_open_own_log, parts, place, table),
        parts.store,
        place,
        clock=parts.clock,
        kept=Kept(parts.root),
        terms=Terms(table.ttl, table.wait_seconds),
    )
    # What an earlier leader had not committed yet is ours to commit.
    relay.began = parts.written
    parts.store.attach(relay, partial(_make_replay, parts, relay))
    parts.shipping = CommitShipping(parts.store, relay)
    return relay


def _make_replay(
    parts: Parts, relay: Relay, tree: Tree, transactions: Transactions, journal: Journal
) -> Replayer:
    def read_logged(path: str) -> bytes | None:
        place, log = relay.position.place, relay.position.log
        return log_content(log, place.memory, path, place.seq, parts.history.content)

    def follow(commit: LoggedCommit) -> None:
        if not relay.position.place.keep:  # A commit needs every file.
            _follow(parts, commit)

    means = Means(
        follow,
        lambda: f"{parts.clock():%Y%m%dT%H%M%SZ}",
        # Made when it is first asked: most folders are edited by nobody.
        lambda edit: parts.store.reconciler.judge(edit),  # noqa: PLW0108  see above
        read_logged,
    )
    return Replayer(tree, transactions, journal, means)


def _follow(parts: Parts, commit: LoggedCommit) -> None:
    store, git = parts.store, parts.history.repository()
    with store.lock("git"):
        read = lambda path: store.read(path) if store.exists(path) else None  # noqa: E731  asked by path
        follow_commit(git, parts.root / PRIVATE, commit, read)


def _open_own_log(parts: Parts, place: Deployment, table: ClusterTable) -> ChangeLog:
    why = ""
    if not table.url:
        why = "your config.toml has no [cluster] url, and this folder is deployed"
    # Another user of this machine, or a disk that was moved: two names would lead one folder.
    elif table.node and table.node != place.node:
        why = f"this folder is that of node {place.node}, and your config.toml says {table.node}"
    if why:
        raise NotPrimaryError(place.memory, why=why)
    return open_log(parts.host, parts.home, table.url)
