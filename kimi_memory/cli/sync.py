"""``sync``: bring this memory and its remotes in step."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.merge import format_report
from kimi_memory.cli.shared import open_memory, say, show, show_json, show_note, translate
from kimi_memory.cli.signals import until_signal
from kimi_memory.domain.sync import SECONDS, SyncOptions, SyncReport
from kimi_memory.errors import KimiMemoryError, NotAMemoryError, NotFoundError, UsageError
from kimi_memory.operations.sync_remotes import sync_memory


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="of remotes; default: all")
    parser.add_argument("--pull", action="store_true", help="only merge what others sent")
    parser.add_argument("--push", action="store_true", help="only send what is here")
    parser.add_argument(
        "--since",
        default="",
        metavar="POINT",
        help="of a folder of bundles: all copies have what was known at this point, so the first "
        "bundle has only what came after",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would change, write nothing"
    )
    parser.add_argument(
        "--timeout", type=float, default=SECONDS, metavar="S", help="seconds for each remote"
    )
    parser.add_argument(
        "--every",
        type=float,
        metavar="SECONDS",
        help="go on, so long after each sync, until stopped",
    )
    parser.add_argument(
        "--accept-forced",
        action="store_true",
        help="merge with a remote whose history was replaced, and send the result",
    )


def run(arguments: Namespace) -> int:
    """Sync once, or again and again until interrupted, which is a clean end."""
    if arguments.pull and arguments.push:
        raise UsageError("--pull and --push each leave the other out. Give one of them, or none.")
    if arguments.pull and arguments.since:
        raise UsageError("--since is of what is sent. Leave --pull or --since out.")
    if arguments.timeout <= 0:
        raise UsageError("--timeout must be above zero.")
    if arguments.every is None:
        return _sync(arguments)
    if arguments.every <= 0:
        raise UsageError("--every must be above zero.")
    if arguments.dry_run or arguments.accept_forced:
        raise UsageError(
            "--every goes on by itself. Give it without --dry-run and --accept-forced."
        )
    with until_signal() as stop:
        while not stop.is_set():
            _sync_again(arguments)
            # Into a pipe, Python would keep the lines until there are some thousand letters.
            sys.stdout.flush()
            stop.wait(arguments.every)
    return 0


def _sync_again(arguments: Namespace) -> None:
    """Sync, and go on whatever comes of it: the next time it may work."""
    try:
        _sync(arguments)
    except (NotAMemoryError, NotFoundError, UsageError):
        raise  # Nothing that time cures.
    except KimiMemoryError as error:
        show_note(f"kimi-memory: {translate(str(error))}")


def _sync(arguments: Namespace) -> int:
    """Sync; the exit code is that of the first remote that failed."""
    options = SyncOptions(
        pull=not arguments.push,
        push=not arguments.pull,
        since=arguments.since,
        dry_run=arguments.dry_run,
        seconds=arguments.timeout,
        accept_forced=arguments.accept_forced,
    )
    # Opened anew each time, so that other commands may write in between.
    with open_memory(arguments) as memory:
        reports = sync_memory(memory, arguments.names, options)
    if arguments.json:
        show_json(reports)
    for report in reports:
        if report.failed:
            show_note(f"kimi-memory: {translate(report.failed)}")
        elif not arguments.json:
            for line in _format_report(report, dry_run=arguments.dry_run):
                show(line)
    return next((report.code for report in reports if report.code), 0)


def _format_report(report: SyncReport, *, dry_run: bool) -> Iterator[str]:
    sent = "{count} versions to send" if dry_run else "{count} versions sent"
    done = [say("{count} versions received", count=report.received)] if report.received else []
    done += [say(sent, count=report.sent)] if report.sent else []
    state = "" if dry_run else f" · {say('at {commit}', commit=report.head[:10])}"
    if report.lag_ms:
        state += f" · {say('lag {time}', time=_shown_time(report.lag_ms))}"
    yield f"{report.name}  {say(', ').join(done) or say('nothing new')}{state}"
    for merged in report.merged:
        yield from format_report(merged, dry_run=dry_run)
    for line in report.left_out:
        yield f"  {say('left out: {what}', what=translate(line))}"


def _shown_time(milliseconds: int) -> str:
    """Return a span as people read it: what is not sent may be a second old, or weeks."""
    seconds = milliseconds / 1000
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
