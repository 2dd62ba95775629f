"""What commands share that answer as of a point: the memory of then, in a folder of its own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import open_memory, show_note
from kimi_memory.errors import UsageError
from kimi_memory.past.labels import describe_point

if TYPE_CHECKING:
    from kimi_memory.past.points import Point


def add_as_of(parser: ArgumentParser, *, exact: bool = False) -> None:
    """Declare the option that names a point.

    Args:
        parser: of the command.
        exact: whether the command has a quicker answer, which is exact but for scores.
    """
    forms = "a date, a commit, v12, a name, the id of a job"
    parser.add_argument(
        "--as-of", default="", metavar="POINT", help=f"what was known then: {forms}"
    )
    if exact:
        help = "with --as-of: score by the words of then; the memory of then is indexed anew"
        parser.add_argument("--exact", action="store_true", help=help)


@contextmanager
def open_at(arguments: Namespace) -> Iterator[Memory]:
    """Open the memory a command is about, or what it was at the point that was named."""
    with open_memory(arguments) as memory:
        if not arguments.as_of:
            yield memory
            return
        with open_exactly(memory, arguments.as_of) as (point, past):
            # Beside what programs read, as it is part of no answer.
            show_note(f"as of {describe_point(point)}")
            yield past


@contextmanager
def open_exactly(memory: Memory, point: str) -> Iterator[tuple[Point, Memory]]:
    """Open what a memory was at a point.

    Raises:
        UsageError: no point was named, or there is none of that name.
    """
    if not point:
        raise UsageError("--exact is for the past. Name a point with --as-of.")
    from kimi_memory.operations.new_copies import open_past  # few questions need it

    with open_past(memory, point) as found:
        yield found
