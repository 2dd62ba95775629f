"""``fork``: make a memory of its own of what this one knows."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.operations.new_copies import make_fork
from kimi_memory.past.points import FORMS


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, help="a new or empty one, outside of the memory")
    parser.add_argument("--name", required=True, help="what people call the new memory")
    parser.add_argument("--at", default="HEAD", metavar="POINT", help=f"what it knows: {FORMS}")


def run(arguments: Namespace) -> int:
    """Fork, and print the id of the new memory."""
    folder = arguments.folder.expanduser()
    with open_memory(arguments) as memory:
        id = make_fork(memory, folder, arguments.name, arguments.at)
    show_result(arguments, {"id": id, "folder": folder, "name": arguments.name}, f"{id}  {folder}")
    return 0
