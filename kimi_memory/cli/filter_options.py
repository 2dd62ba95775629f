"""What commands share that find: options for filters, the query they make, the memory of then."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import (
    add_copy,
    add_valid_at,
    add_within,
    looks_back,
    named_point,
    open_memory,
    say,
    show_note,
    within,
)
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.nlp.dates.ranges import period
from kimi_memory.past.labels import describe_point
from kimi_memory.recall.query_parser import boundary, check, parse

if TYPE_CHECKING:
    from kimi_memory.past.points import Point


_LISTS = {
    "tier": "short-term, episodic, mid-term, semantic or long-term",
    "kind": "turn, card, event, project, day and the like",
    "type": "decision, fact, rule and the like",
    "tag": "a tag",
    "status": "active, candidate, superseded, archived and the like",
    "speaker": "a name or role of who said it",
    "session": "the id of a session",
    "key": "a key, or the beginning of one: db for db.choice",
    "path": "a file, a folder, or a pattern such as semantic/*/db-*",
}
_ONCE = ("project", "agent", "user")


def add_filters(parser: ArgumentParser) -> None:
    """Declare an option for each filter."""
    for name, help in _LISTS.items():
        parser.add_argument(
            f"--{name}", action="append", default=[], help=f"{help}; may be repeated"
        )
    for name in _ONCE:
        parser.add_argument(f"--{name}", default="", help=f"only what belongs to this {name}")
    add_within(parser)
    dates = "such as 2026-02-27, 7d, 'last week' or 上个月"
    parser.add_argument("--since", default="", help=f"only from this date or time on, {dates}")
    parser.add_argument("--until", default="", help=f"only up to the end of this date, {dates}")
    add_valid_at(parser)


def read_filters(
    arguments: Namespace, memory: Memory, *, plain: bool = False
) -> tuple[Query, bool]:
    """Return the query of a line and of options, and whether it asks for anything.

    Args:
        arguments: with the words of the line as `query`.
        memory: whose points may be named; relative dates count from its now.
        plain: take the words as they are; nothing in them is syntax.

    Raises:
        UsageError: a filter has a value that it cannot have.
    """
    line = " ".join(arguments.query)
    query = Query(text=line) if plain else parse(line, memory.now())
    given: dict[str, Any] = {
        name: (*getattr(query, name), *check(name, getattr(arguments, name), f"--{name}"))
        for name in _LISTS
    }
    given |= {name: getattr(arguments, name) or getattr(query, name) for name in _ONCE}
    given |= _parse_dates(arguments, query, memory)
    given["as_of"] = named_point(arguments) or query.as_of
    asks = bool(line.strip()) or any(given.values())
    return replace(query, within=within(arguments), **given), asks


def _parse_dates(arguments: Namespace, query: Query, memory: Memory) -> dict[str, datetime | None]:
    found = {"since": query.since, "until": query.until, "valid_at": query.valid_at}
    for name in found:
        value, option = getattr(arguments, name), name.replace("_", "-")
        if value and name == "valid_at":
            found[name] = find_moment(memory, value)
        elif value:
            found[name] = boundary(option, value, memory.now(), f"--{option}")
    return found


def find_moment(memory: Memory, text: str) -> datetime:
    """Return the moment of --valid-at: the end of a date, or when a point of the history was.

    Raises:
        UsageError: it names neither.
    """
    if period(text, memory.now()) is None:
        try:
            point = memory.points.find(text)
            # The date of a commit has no fractions: all that became so in its second counts.
            return point.moment + timedelta(seconds=1) - timedelta.resolution
        except UsageError:
            pass  # What is nothing at all is reported as a date that is none.
    return boundary("valid-at", text, memory.now(), "--valid-at")


def add_as_of(parser: ArgumentParser, *, exact: bool = False, held: bool = False) -> None:
    """Declare the options that name a point.

    Args:
        parser: of the command.
        exact: whether the command has a quicker answer, which is exact but for scores.
        held: whether the command takes the moment at which something was so, too.
    """
    forms = "a date, a commit, v12, a name, the id of a job"
    parser.add_argument(
        "--as-of", default="", metavar="POINT", help=f"what was known then: {forms}"
    )
    add_copy(parser)
    if held:
        add_valid_at(parser)
    if exact:
        help = "with --as-of: score by the words of then; the memory of then is indexed anew"
        parser.add_argument("--exact", action="store_true", help=help)


@contextmanager
def open_at(arguments: Namespace) -> Iterator[Memory]:
    """Open the memory a command is about, or what was known, or so, at the points that are named.

    What was so is what is known of it now, where no other point is named.
    """
    with open_memory(arguments) as memory:
        if not looks_back(arguments):
            yield memory
            return
        with open_then(memory, arguments) as past:
            yield past


@contextmanager
def open_then(memory: Memory, arguments: Namespace) -> Iterator[Memory]:
    """Open what was known, or so, at the points that are named; see `open_at`."""
    wanted = named_point(arguments)
    held = find_moment(memory, arguments.valid_at) if arguments.valid_at else None
    with open_exactly(memory, wanted or "now", held) as (point, past):
        # Beside what programs read, as it is part of no answer.
        if wanted:
            show_note(say("as of {point}", point=describe_point(point)))
        if held:
            show_note(say("what was so at {moment}", moment=f"{held:%Y-%m-%d %H:%M}"))
        yield past


@contextmanager
def open_exactly(
    memory: Memory, point: str, held: datetime | None = None
) -> Iterator[tuple[Point, Memory]]:
    """Open what a memory was at a point, or only what was so at a moment.

    Raises:
        UsageError: no point was named, or there is none of that name.
    """
    if not point:
        raise UsageError("--exact is for the past. Name a point with --as-of.")
    from kimi_memory.operations.new_copies import open_past  # few questions need it

    with open_past(memory, point, held) as found:
        yield found
