"""``node``: make this machine part of a cluster, list its machines, leave it."""

from __future__ import annotations

import json
import platform
from argparse import ArgumentParser, Namespace

from kimi_memory.agent_hooks.user_files import put, text_at
from kimi_memory.api.options import Home
from kimi_memory.cli.cluster import open_cluster
from kimi_memory.cli.shared import pad, say, show_result
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.registry import Node
from kimi_memory.cluster.trust import own_key, trust_node
from kimi_memory.errors import RemoteError, UsageError
from kimi_memory.runs.profiles import read_surroundings, status_of

_COLUMNS = (16, 10, 12, 11, 6, 10, 8, 0)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    join = steps.add_parser("join", help="make this machine a node; config.toml keeps that")
    join.add_argument("--url", default="", help="the change log: postgres://… or folder:///PATH")
    join.add_argument("--name", default="", help="of this machine; default: its host name")
    join.add_argument(
        "--kind",
        choices=["reasoning", "execution", "hybrid"],
        help="what it is for, in lists; default: hybrid",
    )
    join.add_argument("--region", help="where it is, in lists")
    join.add_argument("--zone", help="where in its region, in lists")
    join.add_argument(
        "--address", default="", metavar="URL",
        help="of the HTTP server here, as programs elsewhere reach it",
    )  # fmt: skip
    join.add_argument("--dry-run", action="store_true", help="only say what would be done")
    steps.add_parser("list", help="list the machines of the cluster")
    steps.add_parser("key", help="show the public key of this machine, which signs its records")
    trust = steps.add_parser("trust", help="believe here what a key of a machine signs")
    trust.add_argument("name", help="of the machine")
    trust.add_argument("key", nargs="*", help="ssh-ed25519 AAAA…; default: what it says it has")
    trust.add_argument("--dry-run", action="store_true", help="only show the key")
    leave = steps.add_parser("leave", help="take this machine out of the cluster")
    leave.add_argument("--dry-run", action="store_true", help="only say what would be done")


def run(arguments: Namespace) -> int:
    """Join, list or leave."""
    if arguments.step == "join":
        node, log = _join(arguments)
        line = say("Would join {log} as {node}.", log=log, node=node.name)
        line = line if arguments.dry_run else say(
            "joined as {node} ({kind}) over {log}. Share a memory with 'kimi-memory deploy add', "
            "and keep 'kimi-memory cluster run' running.",
            node=node.name, kind=say(node.kind), log=log,
        )  # fmt: skip
        return show_result(arguments, node, line)
    with open_cluster() as cluster:
        if arguments.step == "leave":
            cluster.leave(dry_run=arguments.dry_run)
            text = "Would take {node} out of the cluster."
            line = say(text if arguments.dry_run else "{node} left the cluster.", node=cluster.node)
            show_result(arguments, {"left": cluster.node}, line)
        elif arguments.step == "key":
            found_key = own_key(cluster)
            shown = [f"{found_key.key} {found_key.node}", found_key.fingerprint]
            show_result(arguments, found_key, shown)
        elif arguments.step == "trust":
            _trust(cluster, arguments)
        else:
            found = cluster.nodes()
            show_result(arguments, found, _format_nodes(cluster, found))
    return 0


def _trust(cluster: Cluster, arguments: Namespace) -> None:
    given = " ".join(arguments.key)
    done = trust_node(cluster, arguments.name, given, dry_run=arguments.dry_run)
    text = "The key of {node} is {print}; what it signs counts here."
    if arguments.dry_run:
        text = "The key of {node} is {print}."
    show_result(arguments, done, say(text, node=done.node, print=done.fingerprint))


def _join(arguments: Namespace) -> tuple[Node, str]:
    home = Home.of_user()
    table = home.settings().cluster
    url = arguments.url or table.url
    name = arguments.name or table.node or platform.node()
    address = arguments.address or table.address
    if not (address or "http://").startswith(("http://", "https://")):
        raise UsageError(f"{address!r} is no address. Write https://HOST:PORT.")
    if table.url and address != table.address:
        raise UsageError(
            f"Write address = {_quote_toml(address)} under [cluster] in "
            f"{home.config / 'config.toml'}: this machine is a node already."
        )
    if not url:
        raise UsageError("Say which log with --url: postgres://HOST/NAME, or folder:///PATH.")
    if table.url and (url, name) != (table.url, table.node):
        raise UsageError(
            f"{home.config / 'config.toml'} has {table.node or 'a node'} over {table.url}. Leave "
            "that cluster with 'kimi-memory node leave' and take [cluster] out of the file first."
        )
    # Asked before it is written: an address that leads nowhere is kept nowhere.
    with open_cluster(url) as cluster:
        cluster.nodes()
        if arguments.dry_run:
            return Node(name, arguments.kind or "hybrid"), cluster.log.name
    path, text = home.config / "config.toml", text_at(home.config / "config.toml")
    if not table.url:
        gap = "\n" if text and not text.endswith("\n\n") else ""
        given = {"url": url, "node": name, "address": arguments.address}
        lines = [f"{key} = {_quote_toml(value)}" for key, value in given.items() if value]
        put(path, f"{text}{gap}[cluster]\n" + "\n".join(lines) + "\n")
    try:
        with open_cluster() as cluster:
            node = cluster.join(arguments.kind, arguments.region, arguments.zone)
            return node, cluster.log.name
    except RemoteError:
        # A folder that cannot be made is empty to who only reads it.
        put(path, text)
        raise


def _quote_toml(text: str) -> str:
    if not text.isprintable():
        raise UsageError(f"{text!r} holds letters that cannot be printed. Write it without them.")
    # A string of JSON is one of TOML, but for its escapes of rare letters.
    return json.dumps(text, ensure_ascii=False)


def _format_nodes(cluster: Cluster, nodes: list[Node]) -> str:
    if not nodes:
        return say("No nodes. Make this machine one with 'kimi-memory node join --url URL'.")
    rows, around = cluster.deployments(), read_surroundings(cluster)
    ttl = Home.of_user().settings().cluster.ttl
    ways = {one.b: one.p50_ms for one in around.latencies if one.a == cluster.node}
    heads = ("NODE", "KIND", "PLACE", "STATUS", "LOAD", "SEEN", "RTT", "MEMORIES")
    lines = [_format_row(*map(say, heads))]
    for node, offered in zip(nodes, around.nodes, strict=True):
        held = [one.role for one in rows if one.node == node.name]
        counts = [
            f"{held.count(role)} {say(role)}"
            for role in ("primary", "replica", "cache")
            if role in held
        ]
        place = "/".join(filter(None, (node.region, node.zone))) or "-"
        age, shown = format_age(node.seen_seconds), ", ".join(counts) or say("none")
        way = f"{ways[node.name]:g} ms" if node.name in ways else "-"
        state, load = say(status_of(offered, ttl)), f"{offered.load} %"
        lines.append(_format_row(node.name, say(node.kind), place, state, load, age, way, shown))
    return "\n".join(lines)


def _format_row(*cells: str) -> str:
    return " ".join(pad(cell, width) for cell, width in zip(cells, _COLUMNS, strict=True)).rstrip()


def format_age(seconds: float) -> str:
    """Return how long ago something was, as short as a table needs."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return say(f"{{count}} {unit} ago", count=f"{seconds / size:.0f}")
    return say("{count} s ago", count=f"{seconds:.0f}")
