"""``get``: show a note by id, or lines of a file by path."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.memory import Memory
from kimi_memory.model.frontmatter import decode
from kimi_memory.surfaces.cli.shared import open_memory, show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", help="an id, the beginning of one, or a path in the memory")
    parser.add_argument("--from", type=int, default=1, dest="first", help="first line, from 1")
    parser.add_argument("--lines", type=int, default=0, help="how many lines; default: all")


def run(arguments: Namespace) -> int:
    """Print the text."""
    if arguments.first < 1 or arguments.lines < 0:
        raise UsageError("Lines are counted from 1. Give --from 1 or more.")
    with open_memory(arguments) as memory:
        path, text = _read(memory, arguments.what)
    lines = text.splitlines()[arguments.first - 1 :]
    lines = lines[: arguments.lines] if arguments.lines else lines
    if arguments.json:
        show_json({"path": path, "from": arguments.first, "text": "\n".join(lines)})
    else:
        show("\n".join(lines))
    return 0


def _read(memory: Memory, what: str) -> tuple[str, str]:
    """Return path and text of a file, or of the note of an id."""
    path = what.split("#", 1)[0]
    try:
        return path, decode(memory.store.read(path), path)
    except NotFoundError:
        pass
    try:
        filed = memory.get(what)
    except NotFoundError:
        raise NotFoundError("note or file", what) from None
    return filed.path, filed.text
