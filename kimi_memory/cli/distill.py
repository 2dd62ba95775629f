"""``distill``: turn ended sessions into events and cards."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import finish_reports, open_memory


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--session", default="", help="one session; default: all that wait")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Distil one session or every one that ended and was not distilled."""
    with open_memory(arguments) as memory:
        id, dry_run = arguments.session, arguments.dry_run
        if id:
            reports = [memory.distil(id, dry_run=dry_run)]
        else:
            reports = memory.distil_waiting(dry_run=dry_run)
    return finish_reports(arguments, reports)
