"""``verify``: check journal, notes, quotes and indexes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.findings import show_findings
from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import open_memory, say_finding, show_result
from kimi_memory.errors import UsageError
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.verify_history import verify_history
from kimi_memory.operations.verify_index import Rebuilt, Side, rebuild

# Two people who compare by eye need no more; `--json` has all of it.
_SHORT = 16


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help="build the index anew beside the one in use and compare what they say",
    )
    parser.add_argument(
        "--history",
        action="store_true",
        help="check every commit: signatures, merges made again, what may only grow",
    )
    parser.add_argument("--since", metavar="POINT", help="with --history, only what came after")


def run(arguments: Namespace) -> int:
    """Print what is wrong; exit code 1 if anything is."""
    if arguments.rebuild:
        return _compare_with_rebuilt(arguments)
    if arguments.since and not arguments.history:
        raise UsageError("--since bounds a check of the history. Give it with --history.")
    with open_memory(arguments) as memory:
        if arguments.history:
            findings = verify_history(memory, arguments.since or "")
        else:
            findings = verify(memory)
    return show_findings(arguments, findings, "Everything checks out.")


def _compare_with_rebuilt(arguments: Namespace) -> int:
    """Compare the index with one built anew; the other checks are not part of this."""
    with open_memory(arguments) as memory, Progress("files") as progress:
        found = rebuild(memory, progress.set)
    show_result(arguments, found, _format_comparison(found))
    # Rebuilding is slow and proves what `verify` alone cannot, so it is asked for by name.
    return int(not found.same)


def _format_comparison(found: Rebuilt) -> Iterator[str]:
    yield say_finding(_format_side("in use", found.live))
    yield say_finding(_format_side("anew", found.rebuilt))
    for note in found.notes:
        yield say_finding(f"note: {note}")
    for difference in found.differences:
        yield f"✗ {say_finding(difference)}"
    end = "The index is not what the files make of it. Run 'kimi-memory index --full'."
    if found.same:
        ranked = f"{found.questions} questions ranked alike"
        end = f"✓ The same files give the same index: {ranked}, {found.seconds:.1f} s."
    yield say_finding(end)


def _format_side(name: str, side: Side) -> str:
    counts = f"{side.units:,} units, {side.words:,} words"
    return f"{name:<7} {counts}, sha256 {side.digest[:_SHORT]}…  {side.generation}".rstrip()
