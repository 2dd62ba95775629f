"""``deploy``: share a memory between machines, copy it here, say which of them leads."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from kimi_memory.cli.cluster import format_deployments, open_cluster
from kimi_memory.cli.shared import find_memory, foretell, say, show_result
from kimi_memory.cluster.asking import Made, OtherMachine
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.moving import migrate, sync
from kimi_memory.cluster.refusals import check_copy, check_leader, check_removal
from kimi_memory.cluster.snapshots import check_part, find_snapshot
from kimi_memory.cluster.trust import seal_log
from kimi_memory.errors import UsageError
from kimi_memory.runs.profiles import check_room
from kimi_memory.store.deployment import read_deployment

_MOST_FILES = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    add = _declare_add(steps)
    seal = steps.add_parser("seal", help="have the engine of the log read nothing of a memory")
    seal.add_argument("name", help="of a memory that this machine leads")
    seal.add_argument("--to", default="", metavar="NODE", help="a machine that is to read it, too")
    seal.add_argument(
        "--without", action="append", default=[], metavar="NODE",
        help="a machine that is not to read what comes; may be repeated",
    )  # fmt: skip
    listed = steps.add_parser("list", help="list the deployments of all memories, or of one")
    listed.add_argument("name", nargs="?", default="", help="of a memory")
    remove = steps.add_parser("remove", help="make the folder of this machine a plain copy again")
    promote = steps.add_parser("promote", help="have a machine take the writes")
    move = steps.add_parser("migrate", help="have a machine take the writes once it has everything")
    sync = steps.add_parser("sync", help="wait until a machine has all there is now")
    repair = steps.add_parser("repair", help="make the folder here anew from the last snapshot")
    demote = steps.add_parser("demote", help="have this machine take no writes any more")
    for step in (remove, promote, move, sync, repair, demote):
        step.add_argument("name", help="of the memory")
    promote.add_argument("--on", default="", metavar="NODE", help="default: this machine")
    for step in (move, sync):
        step.add_argument("--to", required=True, metavar="NODE", help="the machine")
    for step in (promote, move, sync):
        step.add_argument(
            "--timeout", type=float, default=30.0, metavar="S", help="seconds to wait; default: 30"
        )
    sync.add_argument(
        "--since",
        default="",
        metavar="VERSION",
        help="say what it has that v120, or a day, has not",
    )
    move.add_argument(
        "--no-copy", action="store_true", help="remove the folder of this machine at the end"
    )
    for step in (add, remove, promote, move, repair, seal, demote):
        step.add_argument("--dry-run", action="store_true", help="only say what would be done")


def _declare_add(steps: Any) -> ArgumentParser:
    """Declare the arguments of ``deploy add``; what argparse has for steps has no public type."""
    add: ArgumentParser = steps.add_parser(
        "add", help="share this memory, or copy a shared one to this machine"
    )
    add.add_argument("name", nargs="?", default="", help="of a shared memory; else the one here")
    add.add_argument("--folder", type=Path, help="a new or empty folder for the copy")
    add.add_argument(
        "--on", default="", metavar="NODE",
        help="have that machine copy it, into the 'folder' of its [cluster] settings",
    )  # fmt: skip
    add.add_argument(
        "--role",
        choices=["replica", "cache"],
        default="replica",
        help="a replica takes over where the primary is lost, a cache never does",
    )
    add.add_argument(
        "--keep", default="", metavar="TIERS",
        help="of a cache: only these, by commas, such as semantic,long-term; and no history",
    )  # fmt: skip
    add.add_argument(
        "--sealed",
        action="store_true",
        help="the engine is to read nothing of a memory that is shared",
    )
    return add


def run(arguments: Namespace) -> int:
    """Add, list, remove, promote, demote or repair."""
    steps = {
        "add": _add, "list": _list, "remove": _remove, "promote": _promote, "demote": _demote,
        "repair": _repair, "migrate": _migrate, "sync": _sync, "seal": _seal,
    }  # fmt: skip
    with open_cluster() as cluster:
        if getattr(arguments, "dry_run", False):
            return foretell(arguments, _foretell(cluster, arguments))
        steps[arguments.step](cluster, arguments)
    return 0


def _foretell(cluster: Cluster, arguments: Namespace) -> str:
    """Return what a step would do; what it would refuse, is refused."""
    if arguments.step == "add" and (arguments.on or arguments.folder is None):
        return _foretell_sharing(cluster, arguments)
    memory = cluster.registry.find(arguments.name)
    state, rows = cluster.state(memory), cluster.registry.deployments(memory)
    leader = state.holder if state.held else say("nobody")
    names = ", ".join(one.node for one in rows)
    if arguments.step == "add":
        folder = arguments.folder.expanduser().absolute()
        check_part(_list_tiers(arguments), arguments.role)
        check_copy(rows, cluster.node, folder)
        check_room(cluster)
        about, last = find_snapshot(cluster.log, memory)
        size = len(cluster.log.get_blob(memory, about["bundle"]))
        later = last - int(about["at"])
        return say(
            "Would copy a snapshot of {size} bytes and {count} records after it to {folder}, as a "
            "{role}; {names} have it, {leader} leads.",
            size=size, count=later, folder=folder, role=say(arguments.role),
            names=names, leader=leader,
        )  # fmt: skip
    if arguments.step == "seal":
        left = sorted({one.node for one in rows} - {*arguments.without})
        can = [*cluster.log.sealing.nodes(memory), arguments.to] if arguments.to else left
        line = "Would seal the log of {name}; {nodes} could read what is sealed."
        return say(line, name=arguments.name, nodes=", ".join(can))
    if arguments.step in ("promote", "migrate", "demote"):
        return _foretell_leader(cluster, arguments, leader)
    row = next((one for one in rows if one.node == cluster.node), None)
    if row is None:
        raise UsageError(f"{cluster.node} does not hold {arguments.name}; {names} do.")
    if arguments.step == "remove":
        check_removal(row, rows, state)
        line = "Would make {folder} a plain copy; nothing in it would be removed."
        return say(line, folder=row.folder)
    about, last = find_snapshot(cluster.log, memory)
    return say(
        "Would make {folder} anew from the snapshot at record {record}, and carry out {count} "
        "records after it; what no record has would be put aside.",
        folder=row.folder, record=about["at"], count=last - int(about["at"]),
    )  # fmt: skip


def _foretell_sharing(cluster: Cluster, arguments: Namespace) -> str:
    """Return what would be shared, or which machine would copy it."""
    if arguments.on:
        made = _add_elsewhere(cluster, arguments, dry_run=True)
        return say("Would have {node} copy {name}.", node=made.node, name=made.name)
    root = find_memory(arguments)
    cluster.check_deployable(root)
    check_room(cluster)
    line = "Would share {folder} over {log}; {node} would take the writes."
    return say(line, folder=root, log=cluster.log.name, node=cluster.node)


def _foretell_leader(cluster: Cluster, arguments: Namespace, leader: str) -> str:
    """Return who would lead, or not any more."""
    named = {"name": arguments.name, "leader": leader}
    if arguments.step == "demote":
        line = "Would have {node} take no writes of {name} any more; {leader} leads now."
        return say(line, node=cluster.node, **named)
    node = arguments.to if arguments.step == "migrate" else arguments.on or cluster.node
    check_leader(cluster.deployments(arguments.name), arguments.name, node)
    said = say(
        "Would have {node} take the writes of {name}; {leader} leads now.", node=node, **named
    )
    gone = say("The folder of this machine would be removed.")
    return f"{said} {gone}" if getattr(arguments, "no_copy", False) else said


def _add(cluster: Cluster, arguments: Namespace) -> None:
    if arguments.on:
        made = _add_elsewhere(cluster, arguments)
        line = say(
            "{name} is in {folder} on {node}, a {role}: a snapshot and {count} records after it.",
            name=made.name, folder=made.folder, node=made.node, role=say(arguments.role),
            count=made.records,
        )  # fmt: skip
        show_result(arguments, made, line)
        return
    check_room(cluster)
    if arguments.folder is None:
        row = cluster.deploy(find_memory(arguments), sealed=arguments.sealed)
        line = say(
            "{name} is shared; {node} takes the writes. Copy it to another machine there: "
            "kimi-memory deploy add {name} --folder PATH",
            name=row.name, node=row.node,
        )  # fmt: skip
    else:
        keep, folder = _list_tiers(arguments), arguments.folder.expanduser()
        row, count = cluster.add(arguments.name, folder, arguments.role, keep=keep)
        line = say(
            "{name} is in {folder}, a {role}: a snapshot and {count} records after it. Run "
            "'kimi-memory cluster run' here, so that it follows.",
            name=row.name, folder=row.folder, role=say(row.role), count=count,
        )  # fmt: skip
    show_result(arguments, row, line)


def _list_tiers(arguments: Namespace) -> list[str]:
    return [one.strip() for one in arguments.keep.split(",") if one.strip()]


def _add_elsewhere(cluster: Cluster, arguments: Namespace, *, dry_run: bool = False) -> Made:
    """Have another machine copy the memory that is named, or the one here."""
    if arguments.folder or arguments.sealed:
        raise UsageError("With --on, that machine says where: leave --folder and --sealed out.")
    place = None if arguments.name else read_deployment(find_memory(arguments))
    name = arguments.name or (place.memory if place else "")
    if not name:
        raise UsageError("The memory here is not shared. Run 'kimi-memory deploy add' before.")
    other = OtherMachine(cluster, arguments.on, dry_run=dry_run)
    return other.copy(name, arguments.role, _list_tiers(arguments))


def _seal(cluster: Cluster, arguments: Namespace) -> None:
    done = seal_log(cluster, arguments.name, to=arguments.to, without=arguments.without)
    lines = [
        say(
            "The log of {name} is sealed with key {number}; {nodes} can read it.",
            number=done.key, name=arguments.name, nodes=", ".join(done.nodes),
        )
    ]  # fmt: skip
    if not arguments.to:
        lines.append(say("{count} older records were destroyed.", count=done.records))
    if arguments.without:
        lines.append(say("What they could read once, they can go on reading."))
    show_result(arguments, done, lines)


def _list(cluster: Cluster, arguments: Namespace) -> None:
    found = cluster.deployments(arguments.name)
    show_result(arguments, found, format_deployments(found))


def _remove(cluster: Cluster, arguments: Namespace) -> None:
    row = cluster.remove(arguments.name)
    line = "{folder} is a plain copy of {name} now; what is written there stays there."
    show_result(arguments, row, say(line, folder=row.folder, name=row.name))


def _promote(cluster: Cluster, arguments: Namespace) -> None:
    state = cluster.promote(arguments.name, arguments.on, arguments.timeout)
    line = "{node} takes the writes of {name} (epoch {epoch})."
    said = say(line, node=state.holder, name=arguments.name, epoch=state.epoch)
    show_result(arguments, state, said)


def _migrate(cluster: Cluster, arguments: Namespace) -> None:
    keep = not arguments.no_copy
    moved = migrate(cluster, arguments.name, arguments.to, arguments.timeout, keep_copy=keep)
    text = "{node} takes the writes (epoch {epoch}); writers waited {seconds} s."
    lines = [say(text, node=moved.node, epoch=moved.epoch, seconds=moved.seconds)]
    lines += [] if keep else [say("The folder of this machine was removed.")]
    show_result(arguments, moved, lines)


def _sync(cluster: Cluster, arguments: Namespace) -> None:
    found = sync(cluster, arguments.name, arguments.to, arguments.timeout, since=arguments.since)
    text = "{node} has record {record}; {count} were new to it. It took {seconds} s."
    said = say(text, node=found.node, record=found.seq, count=found.records, seconds=found.seconds)
    lines = [said]
    if found.since:
        text = "Since {version}: {count} versions, {files} files that differ."
        lines.append(say(text, version=found.since, count=found.versions, files=len(found.files)))
        lines += [f"  {path}" for path in found.files[:_MOST_FILES]]
        if len(found.files) > _MOST_FILES:
            lines.append(say("… and {count} more", count=len(found.files) - _MOST_FILES))
    show_result(arguments, found, lines)


def _repair(cluster: Cluster, arguments: Namespace) -> None:
    kept = cluster.repair(arguments.name)
    lines = [say("{name} was made anew here from the last snapshot.", name=arguments.name)]
    if kept:
        lines.append(say("Put aside in .kimi/lost+found, as no record has it:"))
        lines += [f"  {name}" for name in kept]
    show_result(arguments, {"put_aside": kept}, lines)


def _demote(cluster: Cluster, arguments: Namespace) -> None:
    cluster.demote(arguments.name)
    line = "{node} takes no writes of {name} any more; another node may begin."
    said = say(line, node=cluster.node, name=arguments.name)
    show_result(arguments, {"demoted": cluster.node}, said)
