"""``diff``: show what changed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import open_memory, show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    forms = "a date, a commit, v12, a name, a job's id, or JOB^ for what was before it"
    parser.add_argument("old", nargs="?", default="HEAD", help=f"{forms}; default: HEAD")
    parser.add_argument("new", nargs="?", default="", help="the same; default: the files now")
    parser.add_argument("--path", default="", help="only one file")


def run(arguments: Namespace) -> int:
    """Print the difference."""
    with open_memory(arguments) as memory:
        old, new = (_find_commit(memory, text) for text in (arguments.old, arguments.new))
        text = memory.history.diff(old, new, arguments.path)
    if arguments.json:
        show_json({"diff": text})
    else:
        show(text or "No difference.")
    return 0


def _find_commit(memory: Memory, text: str) -> str:
    return memory.points.find(text).commit if text not in ("", "HEAD") else text
