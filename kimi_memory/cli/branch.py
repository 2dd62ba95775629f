"""``branch``: make, list, compare or remove working copies of this memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.cli.diff import format_beliefs
from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.operations.branch_diff import diff_beliefs, diff_files
from kimi_memory.operations.branches import list_branches, remove_branch
from kimi_memory.operations.new_copies import make_branch
from kimi_memory.past.points import FORMS


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    add = steps.add_parser("add", help="make a working copy with a history of its own")
    add.add_argument("name", help="of the branch")
    add.add_argument("--at", default="HEAD", metavar="POINT", help=f"where it begins: {FORMS}")
    add.add_argument(
        "--dir", type=Path, default=None, metavar="PATH", help="default: beside the memory"
    )
    steps.add_parser("list", help="list the branches on this machine")
    diff = steps.add_parser("diff", help="show what a branch has otherwise than this memory")
    diff.add_argument("name", help="of the branch")
    diff.add_argument("--beliefs", action="store_true", help="compare what cards say, not files")
    remove = steps.add_parser("remove", help="remove the folder of a branch")
    remove.add_argument("name", help="of the branch")
    remove.add_argument("--drop", action="store_true", help="with what is only there")


def run(arguments: Namespace) -> int:
    """Make, list, compare or remove."""
    with open_memory(arguments) as memory:
        if arguments.step == "add":
            _add_branch(memory, arguments)
        elif arguments.step == "diff" and arguments.beliefs:
            beliefs = diff_beliefs(memory, arguments.name)
            show_result(arguments, beliefs, "\n".join(format_beliefs(beliefs)))
        elif arguments.step == "diff":
            text = diff_files(memory, arguments.name)
            show_result(arguments, {"diff": text}, text or "No difference.")
        elif arguments.step == "remove":
            gone = remove_branch(memory, arguments.name, drop=arguments.drop)
            show_result(arguments, gone, f"Removed {gone.name}: {gone.folder}")
        else:
            found = list_branches(memory)
            lines = [
                f"{one.name:<16} {one.ahead} ahead, {one.behind} behind"
                f"{', changes pending' if one.pending else ''}  {one.folder}"
                for one in found
            ]
            show_result(arguments, found, "\n".join(lines) or "No branches on this machine.")
    return 0


def _add_branch(memory: Memory, arguments: Namespace) -> None:
    beside = memory.root.parent / f"{memory.root.name}-{arguments.name}"
    folder = (arguments.dir or beside).expanduser()
    point = make_branch(memory, arguments.name, folder, arguments.at)
    made = {"name": arguments.name, "folder": folder, "point": point}
    name = f"v{point.version} ({point.short})" if point.version else point.short
    show_result(arguments, made, f"{arguments.name} begins at {name}: {folder}")
