"""``context``: print a block of memory for a prompt."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.as_of import add_as_of, open_exactly
from kimi_memory.cli.shared import (
    add_within,
    leave,
    open_memory,
    show_result,
    within,
)
from kimi_memory.domain.search_types import Context
from kimi_memory.errors import UsageError
from kimi_memory.past.labels import label_block


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", nargs="*", help="what the task is about")
    parser.add_argument(
        "--for",
        choices=["start", "task", "live"],
        default="task",
        dest="purpose",
        help="start of a session, a task, or the next turn; default: task",
    )
    parser.add_argument("--budget", type=int, default=0, help="most tokens")
    parser.add_argument("--session", default="", help="the running session")
    parser.add_argument("--project", default="", help="at a start: only this project; else all")
    add_as_of(parser, exact=True)
    parser.add_argument("--valid-at", default="", metavar="DATE", help="what was so then")
    add_within(parser)


def run(arguments: Namespace) -> int:
    """Build the block and print it."""
    if arguments.budget < 0:
        raise UsageError("--budget is below zero. Give how many tokens the block may take.")
    with open_memory(arguments) as memory:
        if arguments.exact:
            with open_exactly(memory, arguments.as_of) as (point, past):
                built = label_block(_build(arguments, past, ""), point)
        else:
            built = _build(arguments, memory, arguments.as_of)
        leave(memory)
    show_result(arguments, built, built.text)
    return 0


def _build(arguments: Namespace, memory: Memory, as_of: str) -> Context:
    return memory.context(
        arguments.purpose,
        " ".join(arguments.query),
        budget=arguments.budget,
        session=arguments.session,
        within=within(arguments),
        project=arguments.project,
        as_of=as_of,
        valid_at=arguments.valid_at or None,
    )
