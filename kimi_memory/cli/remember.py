"""``remember``: keep one statement at once."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import finish_reports, open_memory, read_input
from kimi_memory.domain.note import CardType


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("text", nargs="*", help="one statement; default: standard input")
    parser.add_argument("--key", default="", help="what it is about, such as db.choice")
    parser.add_argument(
        "--type",
        default="",
        choices=["", *map(str, CardType)],
        metavar="TYPE",
        help="what kind of knowledge it is; default: found by rules",
    )
    parser.add_argument("--project", default="", help="project it belongs to")
    parser.add_argument("--agent", default="", help="agent it was said to")
    parser.add_argument("--user", default="", help="user who says it")
    parser.add_argument(
        "--area",
        default="",
        choices=["", "agent", "user"],
        metavar="AREA",
        help="agent or user: it is theirs alone; default: shared",
    )


def run(arguments: Namespace) -> int:
    """Store the turn and the card that quotes it."""
    text = " ".join(arguments.text) if arguments.text else read_input()
    with open_memory(arguments, follow=True) as memory:
        report = memory.remember(
            text,
            key=arguments.key,
            type=arguments.type,
            project=arguments.project,
            agent=arguments.agent,
            user=arguments.user,
            area=arguments.area,
        )
    # No `leave`: the job has committed what it wrote, and all that waited before it.
    return finish_reports(arguments, [report])
