"""What commands that find share: filters, the query they make, names of the last list."""

from __future__ import annotations

import json
import os
import re
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_memory.agent_hooks.user_files import drop, put
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
from kimi_memory.errors import DiskError, NotFoundError, UsageError
from kimi_memory.nlp.dates.ranges import period
from kimi_memory.operations.find_note import find_note
from kimi_memory.past.labels import describe_point
from kimi_memory.recall.query_parser import boundary, check, parse

if TYPE_CHECKING:
    from kimi_memory.past.points import Point

NOTE_HELP = "a note: its id, a key, project/key, or its number in the last list"
_NUMBER = re.compile(r"#?([1-9]\d{0,3})")
_DAY_SECONDS = 86_400
"""After a day nobody knows any more what stood in a list."""


def keep_list(
    memory: Memory, names: Sequence[str], marks: Sequence[str] = (), following: str = ""
) -> None:
    """Keep what a command lists, so that the next one in this terminal may name it by number.

    Args:
        memory: the memory.
        names: of what is listed.
        marks: a fingerprint of each, where a decision must be about the words that were shown.
        following: where the list goes on, if it does.
    """
    place = _list_path(memory)
    rows = {"names": names, "marks": marks, "following": [following] if following else []}
    kept = {"memory": str(memory.root), **{row: list(held) for row, held in rows.items()}}
    # What cannot be kept is named by its id, as before.
    with suppress(DiskError, OSError):
        if not place.exists():
            _drop_old_lists(place.parent)
        put(place, json.dumps(kept))


def find_listed(memory: Memory, what: str) -> str:
    """Return what a number of the last list stands for; what is no number, as it is.

    Raises:
        UsageError: it is written as a number of a list (``#3``), and the list has none such.
    """
    number = _NUMBER.fullmatch(what)
    if number is None:
        return what
    names = _read_list(memory, "names")
    if int(number[1]) <= len(names):
        return names[int(number[1]) - 1]
    if what.startswith("#"):
        had = f"had {len(names)} lines" if names else "is not there"
        why = f"the last list in this terminal {had}"
        raise UsageError(f"{what}: {why}. List it anew, or name an id.")
    return what


def find_following(memory: Memory) -> str:
    """Return where the last list in this terminal goes on.

    Raises:
        UsageError: it is at its end, or there is none.
    """
    found = _read_list(memory, "following")
    if not found:
        raise UsageError("The last list in this terminal is at its end. List anew.")
    return found[0]


def mark_of(memory: Memory, name: str) -> str:
    """Return the fingerprint of what the last list showed under an id or the start of one."""
    shown = zip(_read_list(memory, "names"), _read_list(memory, "marks"), strict=False)
    return next((mark for listed, mark in shown if listed.startswith(name)), "")


def find_named(memory: Memory, what: str) -> str:
    """Return the id of the note that a number, an id, a key, or ``project/key`` names.

    Raises:
        NotFoundError: there is none.
        AmbiguousIdError: it fits several.
    """
    return find_note(memory, find_listed(memory, what))


def find_in_history(memory: Memory, what: str) -> str:
    """Return the id that a number or ``project/key`` stands for; other names as they are.

    The history knows keys by itself, also those that no note has any more.
    """
    named = find_listed(memory, what)
    if "/" in named and not memory.store.exists(named):
        # A path of then may look like project and key.
        with suppress(NotFoundError):
            return find_note(memory, named)
    return named


def _list_path(memory: Memory) -> Path:
    # The processes of one terminal share its session; where there are none, the shell above us.
    terminal = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    return memory.home.state / "lists" / f"{terminal}.json"


def _read_list(memory: Memory, row: str) -> list[str]:
    place = _list_path(memory)
    # A list is a help at typing: a broken one is like none.
    with suppress(OSError, ValueError, KeyError, TypeError):
        if time.time() - place.stat().st_mtime < _DAY_SECONDS:
            kept = json.loads(place.read_text(encoding="utf-8"))
            # Another memory has other notes under the same numbers.
            if kept["memory"] == str(memory.root):
                return [str(name) for name in kept[row]]
    return []


def _drop_old_lists(folder: Path) -> None:
    for path in folder.glob("*.json") if folder.is_dir() else ():
        if time.time() - path.stat().st_mtime > _DAY_SECONDS:
            drop(path)


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
