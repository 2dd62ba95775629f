"""``pick``: take one change, or what is said of one thing, from another copy."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.shared import open_memory, say, show_result, translate
from kimi_memory.operations.pick import PickReport, pick


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", help="a job, a commit, a key, or the id of a note")
    parser.add_argument(
        "--from",
        required=True,
        dest="source",
        metavar="SOURCE",
        help="a branch, a commit, or the folder of another copy",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would change, write nothing"
    )


def run(arguments: Namespace) -> int:
    """Pick, or show what would be taken."""
    with open_memory(arguments) as memory:
        report = pick(memory, arguments.what, arguments.source, dry_run=arguments.dry_run)
    return show_pick(arguments, report, arguments.what)


def show_pick(arguments: Namespace, report: PickReport, what: str) -> int:
    """Print what was taken over of another copy; return the exit code."""
    return show_result(arguments, report, _format_pick(report, what, dry_run=arguments.dry_run))


def _format_pick(report: PickReport, what: str, *, dry_run: bool) -> Iterator[str]:
    if not report.paths:
        yield say("Nothing to pick: {what} of {source} is here.", what=what, source=report.source)
        return
    text = "Would pick {what} of {source}: {count} files"
    text = text if dry_run else "Picked {what} of {source}: {count} files"
    source = f"{report.source} ({report.theirs[:10]})"
    yield say(text, what=what, source=source, count=len(report.paths))
    for path in report.paths:
        yield f"  {path}"
    for one in report.settled:
        yield f"  {one.op} {one.key or one.target}: {translate(one.why)}"
    if report.waiting:
        text = "{count} of them wait for your word: kimi-memory review"
        yield say(text, count=len(report.waiting))
    if report.job:
        yield say("take it back: kimi-memory undo {job}", job=report.job)
