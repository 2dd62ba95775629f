"""``rollback``: bring back what was known at an earlier point, as a new version."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.diff import format_change
from kimi_memory.cli.shared import open_memory, say, show_result, translate
from kimi_memory.operations.rollback import roll_back
from kimi_memory.past.beliefs import RollbackReport
from kimi_memory.past.points import FORMS


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("point", help=FORMS)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WHAT",
        help="a path, a key, an id, or agent:NAME; may be repeated; default: all of the memory",
    )
    parser.add_argument("--dry-run", action="store_true", help="name what changes, write nothing")
    parser.add_argument("--yes", action="store_true", help="go on, however much would go")


def run(arguments: Namespace) -> int:
    """Roll back, or show what would change."""
    with open_memory(arguments) as memory:
        report = roll_back(
            memory,
            arguments.point,
            tuple(arguments.only),
            dry_run=arguments.dry_run,
            sure=arguments.yes,
        )
    return show_result(arguments, report, _format_report(report, dry_run=arguments.dry_run))


def _format_report(report: RollbackReport, *, dry_run: bool) -> Iterator[str]:
    point = report.point
    name = f"v{point.version}, " if point.version else ""
    name += f"{point.known:%Y-%m-%d %H:%M} ({point.short})"
    if report.paths:
        text = "Would roll back to {point}: {count} files"
        text = text if dry_run else "Rolled back to {point}: {count} files"
        yield say(text, point=name, count=len(report.paths))
    else:
        yield say("Nothing to roll back: it is as it was at {point}.", point=name)
    yield from map(format_change, report.beliefs)
    for line in report.left_out:
        yield f"  {say('left out: {what}', what=translate(line))}"
    if report.job:
        yield say("take it back: kimi-memory undo {job}", job=report.job)
