"""``consolidate``: run the daily or weekly job, or introspect."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from kimi_memory.cli.shared import day_argument, finish_reports, open_memory, show

if TYPE_CHECKING:
    from kimi_memory.api.memory import Memory
    from kimi_memory.domain.job import JobReport


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("period", choices=["daily", "weekly", "introspect"], help="which job")
    parser.add_argument("--date", default="", help="one day or week; default: all with news")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Distil what waits, then consolidate."""
    if arguments.period == "introspect":
        from kimi_memory.cli.introspection import run_introspection

        return run_introspection(arguments)
    with open_memory(arguments) as memory:
        day = day_argument(arguments.date, memory.zone) if arguments.date else None
        reports = []
        if not arguments.dry_run:
            reports += memory.distil_waiting()
        reports += memory.consolidate(arguments.period, day, dry_run=arguments.dry_run)
        if arguments.period == "weekly":
            reports.append(_skills(memory, dry_run=arguments.dry_run))
        if arguments.period == "weekly" and not arguments.date:
            # What grows old does so without news, so no period asks for it.
            reports.append(_introspected(memory, dry_run=arguments.dry_run))
    if not reports and not arguments.json:
        show(f"{arguments.period}: nothing to do")
    return finish_reports(arguments, reports)


def _introspected(memory: Memory, *, dry_run: bool) -> JobReport:
    from kimi_memory.operations.introspect import introspect

    return introspect(memory, dry_run=dry_run).job


def _skills(memory: Memory, *, dry_run: bool) -> JobReport:
    from kimi_memory.operations.skills import propose

    return propose(memory, dry_run=dry_run)
