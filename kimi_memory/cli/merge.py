"""``merge``: bring a branch or another copy of this memory into it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from kimi_memory.api.memory import Memory
from kimi_memory.cli.pick import show_pick
from kimi_memory.cli.shared import open_memory, say, show_result, translate
from kimi_memory.domain.sync import MergeReport
from kimi_memory.errors import UsageError
from kimi_memory.operations.adopt_memory import adopt_memory
from kimi_memory.operations.branches import open_branch
from kimi_memory.operations.merge_copy import continue_merge, merge_copy
from kimi_memory.operations.pick import merge_parts


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "source",
        nargs="?",
        default="",
        help="a branch, a commit, or the folder of another copy; with --into by default this "
        "memory",
    )
    parser.add_argument(
        "--continue", action="store_true", dest="begun", help="finish a merge that git began"
    )
    parser.add_argument(
        "--into",
        default="",
        metavar="NAME",
        help="merge into this branch on this machine, not into the memory here",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WHAT",
        help="of all that is there only what is said under a key, a note by its id, or a "
        "session:ID; may be repeated. The rest can be merged later",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="hold every note that both sides changed for review, even if the settings or a "
        "signature that is trusted would accept it",
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="take over what another memory knows, with its sessions; the source is its folder",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would change, write nothing"
    )


def run(arguments: Namespace) -> int:
    """Merge, or show what would be merged."""
    _check(arguments)
    dry_run, only = arguments.dry_run, arguments.only
    with _open_target(arguments) as (memory, source):
        if only:
            picked = merge_parts(memory, source, only, dry_run=dry_run)
            return show_pick(arguments, picked, say(", ").join(only))
        if arguments.adopt:
            report = adopt_memory(memory, source, dry_run=dry_run)
        elif arguments.begun:
            report = continue_merge(memory)
        else:
            report = merge_copy(memory, source, strict=arguments.strict, dry_run=dry_run)
    return show_result(arguments, report, format_report(report, dry_run=dry_run))


@contextmanager
def _open_target(arguments: Namespace) -> Iterator[tuple[Memory, str]]:
    """Give the memory that something is merged into, and what that is."""
    with open_memory(arguments) as memory:
        if not arguments.into:
            yield memory, arguments.source
            return
        memory.batch.flush()
        with open_branch(memory, arguments.into) as branch:
            yield branch, arguments.source or str(memory.root)


def _check(arguments: Namespace) -> None:
    """Refuse options that each leave the other out."""
    whole = bool(arguments.source or arguments.into)
    others = (arguments.dry_run, arguments.strict, arguments.adopt, arguments.only)
    if whole == arguments.begun or (arguments.begun and any(others)):
        raise UsageError("Say what to merge, with or without --dry-run; or --continue alone.")
    if arguments.adopt and (arguments.strict or arguments.only):
        raise UsageError("--adopt takes over all and lets it wait. Leave --strict and --only out.")
    if arguments.adopt and not arguments.source:
        raise UsageError("--adopt wants the folder of the other memory. Name it.")
    if arguments.strict and arguments.only:
        raise UsageError("--strict is for a merge of all. Leave --only or --strict out.")


def format_report(report: MergeReport, *, dry_run: bool) -> Iterator[str]:
    """Yield what a merge did."""
    # A dry run makes no commit, but knows the files.
    if (not report.commit and not dry_run) or not report.paths:
        yield say("Nothing to merge: all of {source} is here.", source=report.source)
        return
    source, count = f"{report.source} ({report.theirs[:10]})", len(report.paths)
    if dry_run:
        yield say("Would merge {source}: {count} files", source=source, count=count)
        for line in _list_counts(report) if report.behind or report.ahead else ():
            yield f"  {line}"
    else:
        made = report.commit[:10]
        text = "Merged {source} as {commit}: {count} files"
        text = "Adopted {source} as {commit}: {count} files" if report.job else text
        yield say(text, source=source, commit=made, count=count)
    if report.ahead_until is not None:
        text = "its last version bears a time of {at}, which is ahead of the clock here"
        yield f"  {say(text, at=f'{report.ahead_until:%Y-%m-%d %H:%M} UTC')}"
    for line in _list_findings(report):
        yield f"  {line}"
    if report.job:
        yield say("take it back: kimi-memory undo {job}", job=report.job)


def _list_counts(report: MergeReport) -> Iterator[str]:
    """Yield how far apart both sides are, and what would come along."""
    text = "{ahead} versions ahead, {behind} behind, since {commit}"
    counts = {"ahead": report.ahead, "behind": report.behind}
    yield say(text, **counts, commit=report.base[:10])
    if report.added:
        yield say("{count} notes are new", count=report.added)
    if report.turns:
        text = "{count} turns were said there; in the result: {found}"
        yield say(text, count=report.turns, found=report.found)


def _list_findings(report: MergeReport) -> Iterator[str]:
    """Yield what a person should know of a merge."""
    if report.joined:
        yield say("{count} notes were changed on both sides", count=report.joined)
    for card, other in report.variants:
        yield say("{card} says two things; the other is kept as {other}", card=card, other=other)
    for id in report.forks:
        yield say("a session went on in both copies; later turns are now {id}", id=id)
    for one in report.settled:
        yield f"{one.op} {one.key or one.target}: {translate(one.why)}"
    if report.signers:
        text = "signed by {names}" if report.waiting else "signed by {names}: all counts"
        yield say(text, names=", ".join(report.signers))
    for path in report.kept:
        yield say("could not be merged, kept beside: {path}", path=path)
    if report.waiting:
        text = "{count} of these files wait for your word: kimi-memory review"
        yield say(text, count=len(report.waiting))
