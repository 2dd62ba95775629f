"""``conflicts``: list contradictions, and settle them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.filter_options import add_as_of, find_listed, keep_list, open_at
from kimi_memory.cli.keys import Walk, can_walk, edit_text
from kimi_memory.cli.shared import (
    finish_reports,
    looks_back,
    moment,
    say,
    show,
    show_json,
    show_title,
)
from kimi_memory.domain.job import JobReport
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.pages import Dispute
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts, find
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        help="a key, the id of a side, or a number of the list; default: all, one by one on a "
        "terminal",
    )
    parser.add_argument(
        "--keep", default="", metavar="SIDE", help="this side is right: number or id"
    )
    parser.add_argument("--value", default="", metavar="TEXT", help="neither is right, but this")
    parser.add_argument("--both", action="store_true", help="both are true")
    parser.add_argument(
        "--since", default="", metavar="DATE", help="with --both: the newer one holds from then on"
    )
    add_as_of(parser, held=True)
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


SHORTEST_ID = 1000
"""A smaller number names a side, never the end of an id."""


def run(arguments: Namespace) -> int:
    """List conflicts, or settle one as a job that undo can take back."""
    choice = Choice(keep=arguments.keep, value=arguments.value, both=arguments.both)
    # A choice without a name would settle some contradiction, and nobody could say which.
    chosen = choice != Choice() or bool(arguments.since)
    if chosen and not arguments.name:
        raise UsageError("Say which conflict: give its key or the id of a side.")
    if chosen and looks_back(arguments):
        raise UsageError("Nothing is settled in the past. Leave out --as-of and --valid-at.")
    with open_at(arguments) as memory:
        name = find_listed(memory, arguments.name)
        if arguments.since:
            choice = replace(choice, since=moment(arguments.since, memory.zone))
        if chosen:
            if choice.keep.isdecimal():
                choice = replace(choice, keep=_find_side(memory, name, int(choice.keep)))
            job = Resolve(memory, name, choice)
            report = memory.run(job, dry_run=arguments.dry_run)
            return finish_reports(arguments, [report])
        found = [one for one in conflicts(memory) if _is_named(one, name)]
        if arguments.json:
            show_json([{"key": one.key, "path": one.path, "sides": one.sides} for one in found])
            return 0
        keep_list(memory, [one.sides[0].id for one in found])
        if found and can_walk() and not looks_back(arguments):
            return _walk(memory, found)
        _print_conflicts(found, memory.zone)
    return 0


def _find_side(memory: Memory, name: str, number: int) -> str:
    """Return the id of the side of a number; a long number may be the end of an id."""
    sides = find(conflicts(memory), name).sides
    if 1 <= number <= len(sides):
        return sides[number - 1].id
    # Many ids end in a 3: a wrong number must not settle anything.
    if number < SHORTEST_ID:
        raise NotFoundError("side", str(number))
    return str(number)


def _walk(memory: Memory, found: list[Dispute]) -> int:
    """Ask about each conflict."""

    def present(at: int) -> None:
        show()
        _print_conflict(f"{at + 1}/{len(found)}", found[at], memory.zone)

    def decide(at: int, key: str) -> JobReport | None:
        sides = found[at].sides
        choice = Choice(both=key == "b")
        if key.isdecimal():
            if int(key) > len(sides):
                return None
            choice = Choice(keep=sides[int(key) - 1].id)
        elif key == "v":
            choice = Choice(value=edit_text(sides[-1].value))
        return memory.run(Resolve(memory, sides[0].id, choice))

    most = max(len(one.sides) for one in found)
    keys = {str(n): say("this is right") for n in range(1, min(most, 9) + 1)}
    keys |= {"b": say("both"), "v": say("neither, but …")}
    count = Walk(keys, decide, memory.undo).run(len(found), present)
    show(say("{count} of {all} answered.", count=count, all=len(found)))
    return 0


def _is_named(one: Dispute, name: str) -> bool:
    return name in ("", one.key) or any(card.id.startswith(name) for card in one.sides)


def _print_conflicts(found: list[Dispute], zone: Zone) -> None:
    for number, one in enumerate(found, 1):
        _print_conflict(f"{number}.", one, zone)
    how = "Settle one with: kimi-memory conflicts 1 --keep 2 | --value TEXT | --both"
    show(say(how) if found else say("No conflicts."))


def _print_conflict(number: str, one: Dispute, zone: Zone) -> None:
    show_title(f"{number} {one.key}  ({one.path})")
    for side, card in enumerate(one.sides, 1):
        since = in_zone(card.valid_from or card.created, zone)
        about = say("since {day}", day=f"{since:%Y-%m-%d}")
        show(f"  {side}  {' '.join(card.value.split())}")
        show(f"     {card.confidence:.2f}  {say(card.trust)}  {about}  {card.id}")
        for quote in card.own_quotes:
            show(f"     > {' '.join(quote.text.split())}  [{quote.session} #{quote.n}]")
