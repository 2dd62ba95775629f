"""``diff``: show what changed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("old", nargs="?", default="HEAD", help="a commit; default: the last one")
    parser.add_argument("new", nargs="?", default="", help="a commit; default: the files now")
    parser.add_argument("--path", default="", help="only one file")


def run(arguments: Namespace) -> int:
    """Print the difference."""
    with open_memory(arguments) as memory:
        text = memory.history.diff(arguments.old, arguments.new, arguments.path)
    if arguments.json:
        show_json({"diff": text})
    else:
        show(text or "No difference.")
    return 0
