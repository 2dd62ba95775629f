"""``fork``: make a memory of its own of what this one knows, here or on another machine."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import find_memory, open_memory, say, show_result
from kimi_memory.errors import UsageError
from kimi_memory.operations.new_copies import make_fork
from kimi_memory.operations.new_folders import check_new
from kimi_memory.past.points import FORMS
from kimi_memory.store.deployment import read_deployment


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "folder", nargs="?", type=Path, help="a new or empty one, outside of the memory"
    )
    parser.add_argument("--name", required=True, help="what people call the new memory")
    parser.add_argument("--at", default="HEAD", metavar="POINT", help=f"what it knows: {FORMS}")
    parser.add_argument(
        "--on", default="", metavar="NODE",
        help="have another machine of the cluster make it, beside its copy of this memory",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")


def run(arguments: Namespace) -> int:
    """Fork, and print the id of the new memory."""
    if bool(arguments.folder) == bool(arguments.on):
        raise UsageError("Name a folder, or a machine with --on, which lays it beside its copy.")
    if arguments.on:
        return _fork_elsewhere(arguments)
    folder = arguments.folder.expanduser()
    with open_memory(arguments) as memory:
        if arguments.dry_run:
            # What would be refused, is refused.
            point = memory.points.find(arguments.at)
            check_new(folder, memory.root)
            text = "Would make {folder}, of what was known at {commit}."
            line = say(text, folder=folder, commit=point.commit[:12])
            return show_result(arguments, {"folder": folder, "commit": point.commit}, line)
        id = make_fork(memory, folder, arguments.name, arguments.at)
    return show_result(
        arguments, {"id": id, "folder": folder, "name": arguments.name}, f"{id}  {folder}"
    )


def _fork_elsewhere(arguments: Namespace) -> int:
    place = read_deployment(find_memory(arguments))
    if place is None:
        raise UsageError("This memory is on this machine alone. See 'kimi-memory deploy add'.")
    # Of a memory that is on one machine alone, nothing of a cluster is loaded.
    from kimi_memory.cli.cluster import make_fork_on

    made = make_fork_on(place.memory, arguments)
    text = "{id} is in {folder} on {node}."
    if arguments.dry_run:
        text = "Would have {node} make {folder}, of what this machine knows."
    line = say(text, id=made.id, folder=made.folder, node=made.node)
    return show_result(arguments, made, line)
