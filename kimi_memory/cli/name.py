"""``name``: give a version of the memory a name."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, say, show, show_result
from kimi_memory.errors import UsageError
from kimi_memory.past.naming import add_name, remove_name


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", help="letters, digits, '-' and '.', such as before-the-move")
    parser.add_argument(
        "point",
        nargs="?",
        default="HEAD",
        help="a date, commit, version, name or job; default: the last commit",
    )
    parser.add_argument("--remove", action="store_true", help="take the name away")


def run(arguments: Namespace) -> int:
    """Name a version, or remove its name."""
    with open_memory(arguments) as memory:
        if arguments.remove:
            remove_name(memory.history, arguments.name)
            show(say("{name} names nothing any more.", name=arguments.name))
            return 0
        if memory.is_secret(arguments.name):
            raise UsageError("The name holds a secret, which git would keep. Choose another.")
        point = add_name(memory.history, memory.points, arguments.name, arguments.point)
    version = f"v{point.version}, {point.known:%Y-%m-%d %H:%M}"
    text = "{name} is {version} (commit {commit})"
    line = say(text, name=arguments.name, version=version, commit=point.short)
    return show_result(arguments, point._asdict(), [line])
