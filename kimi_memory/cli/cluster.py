"""``cluster``: keep the memories of this machine in step, look at them, check their logs."""

from __future__ import annotations

import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.cli.shared import find_person, pad, say, show, show_result, translate
from kimi_memory.cli.signals import until_signal
from kimi_memory.cluster.asking import Made, OtherMachine
from kimi_memory.cluster.checking import check_log, digest_tree
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.purging import list_purged_nodes
from kimi_memory.cluster.reaching import name_silent_engine
from kimi_memory.cluster.registry import DeploymentRow
from kimi_memory.cluster.running import Service
from kimi_memory.spaces.carried import Heads


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    steps.add_parser("run", help="follow and lead the memories of this machine, until stopped")
    steps.add_parser("status", help="show who leads which memory, and how far the others are")
    check = steps.add_parser("check", help="check the log of a memory, and this machine's folder")
    check.add_argument("name", help="of the memory")
    trim = steps.add_parser("trim", help="destroy records of a log that every machine has")
    trim.add_argument("name", help="of a memory that this machine leads")
    trim.add_argument("--dry-run", action="store_true", help="only count them")


@contextmanager
def open_cluster(url: str = "") -> Iterator[Cluster]:
    """Open a cluster for a command, by default that of the user's settings.

    Raises:
        RemoteError: its engine does not answer, whatever it was asked.
    """
    opening = Opening(home=Home.of_user(), actor=find_person(), background=False)
    with name_silent_engine(), Cluster.open(url, opening) as cluster:
        yield cluster


def make_fork_on(memory: str, arguments: Namespace) -> Made:
    """Have the machine that ``fork --on`` names make a fork; return it."""
    with open_cluster() as cluster:
        other = OtherMachine(cluster, arguments.on, dry_run=arguments.dry_run)
        return other.fork(memory, arguments.name, arguments.at)


def run(arguments: Namespace) -> int:
    """Run, show or check."""
    with open_cluster() as cluster:
        if arguments.step == "run":
            return _run(cluster)
        if arguments.step == "check":
            return _check(cluster, arguments)
        if arguments.step == "trim":
            count = cluster.trim(arguments.name, dry_run=arguments.dry_run)
            done = "would be destroyed" if arguments.dry_run else "destroyed"
            line = f"{{count}} records {done}; the log begins with a snapshot."
            return show_result(arguments, {"records": count}, say(line, count=count))
        found = cluster.deployments()
        show_result(arguments, found, format_deployments(found, list_unpurged(cluster)))
    return 0


def _run(cluster: Cluster) -> int:
    opening = Opening(home=Home.of_user(), actor=find_person())
    lock = threading.Lock()

    def tell(line: str) -> None:
        with lock:
            show(translate(line))
            sys.stdout.flush()

    with until_signal() as stop:
        Service(cluster, opening, tell, Heads(Home.of_user()).find).run(stop.wait)
    return 0


def _check(cluster: Cluster, arguments: Namespace) -> int:
    memory = cluster.registry.find(arguments.name)
    problems = [*check_log(cluster.log, memory)]
    rows = list(cluster.registry.deployments(memory, cluster.node))
    tree = _digest_here(rows[0]) if rows else ""
    lines = [translate(one) for one in problems]
    lines = lines or [say("The log is whole: one order, one node an epoch.")]
    if tree:
        same = "This folder is {tree}; every node that is as far has the same."
        lines.append(say(same, tree=tree[:16]))
    readers = cluster.log.sealing.nodes(memory)
    if readers:
        lines.append(say("It is sealed; {nodes} can read it.", nodes=", ".join(readers)))
    found = {"problems": problems, "tree": tree, "sealed_for": readers}
    show_result(arguments, found, lines)
    return 1 if problems else 0


def _digest_here(row: DeploymentRow) -> str:
    with Memory.open(Path(row.folder), Opening(home=Home.of_user(), background=False)) as memory:
        if memory.store.relay is not None:
            memory.store.relay.follow()
        return digest_tree(memory)


def list_unpurged(cluster: Cluster) -> list[str]:
    """Return a line for each deployment that a purge did not reach."""
    names = {one.memory: one.name for one in cluster.registry.deployments()}
    text = "purge of {name} did not reach {node}: {why}"
    return [
        say(text, name=name, node=one.node, why=translate(one.why))
        for memory, name in names.items()
        for one in list_purged_nodes(cluster.log, memory)
        if one.state == "left"
    ]


def format_deployments(rows: Sequence[DeploymentRow], more: Sequence[str] = ()) -> str:
    """Return deployments as a table, the one that leads first, and lines below it."""
    if not rows:
        return say("No memory is deployed. Share the one here with 'kimi-memory deploy add'.")
    lines = []
    last = {one.memory: max(o.applied for o in rows if o.memory == one.memory) for one in rows}
    for memory in dict.fromkeys(one.memory for one in rows):
        mine = [one for one in rows if one.memory == memory]
        lead = next((one for one in mine if one.role == "primary"), None)
        who = say("nobody leads at the moment")
        if lead:
            who = say("primary {node}, epoch {epoch}", node=lead.node, epoch=lead.epoch)
        at = say("record {record}", record=last[memory])
        lines.append(f"{mine[0].name}  {who}  {at}")
        for one in mine:
            behind = last[memory] - one.applied
            state = say("{behind} records behind", behind=behind) if behind else say("in step")
            if one.role != "primary" and one.lag_ms > 0:
                state = say("{state}, lag {ms} ms", state=state, ms=f"{one.lag_ms:,}")
            state = translate(one.why) or state
            state += say("; only {tiers}", tiers=", ".join(one.keep)) if one.keep else ""
            named = f"{pad(say(one.role), 8)} {pad(say(one.status), 9)}"
            lines.append(f"  {one.node:<16} {named} {state}  {one.folder}")
    return "\n".join([*lines, *more])
