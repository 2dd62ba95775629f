"""``versions``: list the versions of the memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.errors import UsageError
from kimi_memory.past.naming import list_versions


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--limit", type=int, default=20, help="most versions; default: 20")
    parser.add_argument(
        "--all", action="store_true", help="every version, not only named ones, days and weeks"
    )


def run(arguments: Namespace) -> int:
    """Print versions, newest first."""
    # Python would cut from the other end, and git takes a negative number for all.
    if arguments.limit < 0:
        raise UsageError("--limit is below zero. Give how many versions you want, 0 for all.")
    with open_memory(arguments) as memory:
        found = list_versions(
            memory.history, memory.points, limit=arguments.limit, every=arguments.all
        )
    lines = []
    for one in found:
        label = "  ".join(part for part in (", ".join(one.names), one.job or one.subject) if part)
        lines.append(f"v{one.version:<5} {one.at:%Y-%m-%d %H:%M}  {one.commit[:10]}  {label}")
    return show_result(arguments, found, lines)
