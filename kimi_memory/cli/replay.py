"""``replay``: what would be believed had a turn never been said."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.diff import format_change
from kimi_memory.cli.shared import cut, open_memory, say, show_result, translate
from kimi_memory.operations.replay import Counterfactual, replay_without

_COLUMNS = 60
"""So much of a turn is shown."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--without",
        action="append",
        required=True,
        metavar="TURN",
        help="a turn such as session:s1#3, or session:s1 for all of a session; may be repeated",
    )


def run(arguments: Namespace) -> int:
    """Run history again without the turns, and print what would be believed."""
    with open_memory(arguments) as memory:
        found = replay_without(memory, arguments.without)
    return show_result(arguments, found, _format_lines(found))


def _format_lines(found: Counterfactual) -> Iterator[str]:
    for turn in found.without:
        said = cut(" ".join(turn.text.split()), _COLUMNS)
        row = f'{turn.source}  {turn.at:%Y-%m-%d %H:%M}  {turn.role}  "{said}"'
        yield f"{say('without')} {row}"
    since = f"v{found.begins}" if found.begins else say("an empty memory")
    text = "run again from {since}, without a model: turns {turns}, jobs {jobs}"
    yield say(text, since=since, turns=found.turns, jobs=found.jobs)
    yield from map(format_change, found.changes)
    count = len(found.changes)
    text = "{count} beliefs would differ; held now: {all}"
    yield say(text, count=count, all=found.total)
    if found.same < found.total:
        text = "With the turns, {count} of the {all} beliefs of now come out again."
        yield say(text, count=found.same, all=found.total)
    if found.not_again:
        parts = (f"{say(kind)} ({count})" for kind, count in found.not_again.items())
        jobs = say(", ").join(parts)
        text = "Not run again, as a person or another program decided them: {jobs}"
        yield say(text, jobs=jobs)
    for why in found.failed:
        yield say("could not be run again: {why}", why=translate(why))
