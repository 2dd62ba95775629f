"""``conflicts``: list contradictions, and settle them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace

from kimi_memory.cli.as_of import add_as_of, open_at
from kimi_memory.cli.shared import finish_reports, moment, show, show_json
from kimi_memory.errors import UsageError
from kimi_memory.jobs.pages import Dispute
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts
from kimi_memory.nlp.dates.zone import Zone, in_zone


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "name", nargs="?", default="", help="a key or the id of a side; default: list them all"
    )
    parser.add_argument("--keep", default="", metavar="ID", help="this side is right")
    parser.add_argument("--value", default="", metavar="TEXT", help="neither is right, but this")
    parser.add_argument("--both", action="store_true", help="both are true")
    parser.add_argument(
        "--since", default="", metavar="DATE", help="with --both: the newer one holds from then on"
    )
    add_as_of(parser)
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """List conflicts, or settle one as a job that undo can take back."""
    choice = Choice(keep=arguments.keep, value=arguments.value, both=arguments.both)
    # A choice without a name would settle some contradiction, and nobody could say which.
    chosen = choice != Choice() or bool(arguments.since)
    if chosen and not arguments.name:
        raise UsageError("Say which conflict: give its key or the id of a side.")
    if chosen and arguments.as_of:
        raise UsageError("Nothing is settled in the past. Leave out --as-of.")
    with open_at(arguments) as memory:
        if arguments.since:
            choice = replace(choice, since=moment(arguments.since, memory.zone))
        if chosen:
            job = Resolve(memory, arguments.name, choice)
            report = memory.run(job, dry_run=arguments.dry_run)
            return finish_reports(arguments, [report])
        found = [one for one in conflicts(memory) if _is_named(one, arguments.name)]
        zone = memory.zone
    if arguments.json:
        show_json([{"key": one.key, "path": one.path, "sides": one.sides} for one in found])
    else:
        _print_conflicts(found, zone)
    return 0


def _is_named(one: Dispute, name: str) -> bool:
    return name in ("", one.key) or any(card.id.startswith(name) for card in one.sides)


def _print_conflicts(found: list[Dispute], zone: Zone) -> None:
    if not found:
        show("No conflicts.")
    for one in found:
        show(f"{one.key}  ({one.path})")
        for card in one.sides:
            since = in_zone(card.valid_from or card.created, zone)
            show(f"  {card.id}  {card.confidence:.2f}  {card.trust}  since {since:%Y-%m-%d}")
            show(f"    {' '.join(card.value.split())}")
            for quote in card.quotes:
                show(f"      > {' '.join(quote.text.split())}  [{quote.session} #{quote.n}]")
    if found:
        show("Settle one with: kimi-memory conflicts KEY --keep ID | --value TEXT | --both")
