"""``sync`` and ``migrate`` of a memory on several machines."""

from __future__ import annotations

from argparse import Namespace

from kimi_memory.cli.cluster import open_cluster
from kimi_memory.cli.shared import find_memory, show_result
from kimi_memory.cli.words import say
from kimi_memory.cluster.moving import migrate, sync
from kimi_memory.errors import UsageError
from kimi_memory.store.deployment import read_deployment


def sync_node(arguments: Namespace) -> int:
    """Wait until a machine has all there is now."""
    name = _find_deployed(arguments)
    with open_cluster() as cluster:
        found = sync(cluster, name, arguments.node, arguments.timeout)
    text = "{node} has record {record}; {count} were new to it. It took {seconds} s."
    said = say(text, node=found.node, record=found.seq, count=found.records, seconds=found.seconds)
    show_result(arguments, found, said)
    return 0


def hand_over(arguments: Namespace) -> int:
    """Have another machine take the writes."""
    if arguments.to is not None or arguments.back:
        raise UsageError("Say where to, or --node alone.")
    name = _find_deployed(arguments)
    with open_cluster() as cluster:
        if arguments.dry_run or not arguments.yes:
            synced = sync(cluster, name, arguments.node)
            text = "{node} has all {count} records; it would take the writes. Add --yes to do it."
            line = say(text, node=synced.node, count=synced.seq)
            show_result(arguments, synced, line)
            return 0
        moved = migrate(cluster, name, arguments.node)
    text = "{node} takes the writes (epoch {epoch}); writers waited {seconds} s."
    line = say(text, node=moved.node, epoch=moved.epoch, seconds=moved.seconds)
    show_result(arguments, moved, line)
    return 0


def _find_deployed(arguments: Namespace) -> str:
    root = find_memory(arguments)
    place = read_deployment(root)
    if place is None:
        raise UsageError(f"{root} is of this machine alone. Share it: 'kimi-memory deploy add'.")
    return place.memory
