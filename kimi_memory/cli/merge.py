"""``merge``: bring a branch or another copy of this memory into it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, show, show_json
from kimi_memory.domain.sync import MergeReport
from kimi_memory.errors import UsageError
from kimi_memory.operations.merge_copy import continue_merge, merge_copy


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "source", nargs="?", default="", help="a branch, a commit, or the folder of another copy"
    )
    parser.add_argument(
        "--continue", action="store_true", dest="begun", help="finish a merge that git began"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would change, write nothing"
    )


def run(arguments: Namespace) -> int:
    """Merge, or show what would be merged."""
    if bool(arguments.source) == arguments.begun or (arguments.begun and arguments.dry_run):
        raise UsageError("Say what to merge, with or without --dry-run; or --continue alone.")
    with open_memory(arguments) as memory:
        if arguments.begun:
            report = continue_merge(memory)
        else:
            report = merge_copy(memory, arguments.source, dry_run=arguments.dry_run)
    if arguments.json:
        show_json(report)
    else:
        print_report(report, dry_run=arguments.dry_run)
    return 0


def print_report(report: MergeReport, *, dry_run: bool) -> None:
    """Print what a merge did."""
    # A dry run makes no commit, but knows the files.
    if (not report.commit and not dry_run) or not report.paths:
        show(f"Nothing to merge: all of {report.source} is here.")
        return
    done = "Would merge" if dry_run else "Merged"
    name = "" if dry_run else f" as {report.commit[:10]}"
    show(f"{done} {report.source} ({report.theirs[:10]}){name}: {len(report.paths)} files")
    lines = [f"{report.joined} notes were changed on both sides"] if report.joined else []
    lines += [
        f"{card} says two things; the other is kept as {other}" for card, other in report.variants
    ]
    lines += [f"a session went on in both copies; later turns are now {id}" for id in report.forks]
    lines += [f"{one.op} {one.key or one.target}: {one.why}" for one in report.settled]
    if report.signers:
        rest = "" if report.waiting else ": all counts"
        lines.append(f"signed by {', '.join(report.signers)}{rest}")
    lines += [f"could not be merged, kept beside: {path}" for path in report.kept]
    if report.waiting:
        count = len(report.waiting)
        lines.append(f"{count} of these files wait for your word: kimi-memory review")
    for line in lines:
        show(f"  {line}")
