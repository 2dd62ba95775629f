"""``sync``: bring this memory and its remotes in step."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.merge import print_report
from kimi_memory.cli.shared import open_memory, show, show_json, show_note
from kimi_memory.domain.sync import SECONDS, SyncOptions, SyncReport
from kimi_memory.errors import UsageError
from kimi_memory.operations.sync_remotes import sync_memory


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="of remotes; default: all")
    parser.add_argument("--pull", action="store_true", help="only merge what others sent")
    parser.add_argument("--push", action="store_true", help="only send what is here")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would change, write nothing"
    )
    parser.add_argument(
        "--timeout", type=float, default=SECONDS, metavar="S", help="seconds for each remote"
    )
    parser.add_argument(
        "--accept-forced",
        action="store_true",
        help="merge with a remote whose history was replaced, and send the result",
    )


def run(arguments: Namespace) -> int:
    """Sync; the exit code is that of the first remote that failed."""
    if arguments.pull and arguments.push:
        raise UsageError("--pull and --push each leave the other out. Give one of them, or none.")
    options = SyncOptions(
        pull=not arguments.push,
        push=not arguments.pull,
        dry_run=arguments.dry_run,
        seconds=arguments.timeout,
        accept_forced=arguments.accept_forced,
    )
    with open_memory(arguments) as memory:
        reports = sync_memory(memory, arguments.names, options)
    if arguments.json:
        show_json(reports)
    for report in reports:
        if report.failed:
            show_note(f"kimi-memory: {report.failed}")
        elif not arguments.json:
            _print_report(report, dry_run=arguments.dry_run)
    return next((report.code for report in reports if report.code), 0)


def _print_report(report: SyncReport, *, dry_run: bool) -> None:
    done = [f"{report.received} versions received"] if report.received else []
    done += [f"{report.sent} versions {'to send' if dry_run else 'sent'}"] if report.sent else []
    state = "" if dry_run else f" · at {report.head[:10]}"
    show(f"{report.name}  {', '.join(done) or 'nothing new'}{state}")
    for merged in report.merged:
        print_report(merged, dry_run=dry_run)
    for line in report.left_out:
        show(f"  left out: {line}")
