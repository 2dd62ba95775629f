"""``purge``: destroy a text or a session everywhere, with proof."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, show, show_json
from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.operations.forget import Doomed, PurgeReport, purge

# The whole list stands in the JSON; on a terminal the counts would scroll away behind it.
_SHOWN = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--text", action="append", default=[], help="words to destroy; - reads standard input"
    )
    parser.add_argument(
        "--session", action="append", default=[], metavar="ID", help="destroy all its turns"
    )
    parser.add_argument(
        "--yes", action="store_true", help="do it; without, only show what would go"
    )


def run(arguments: Namespace) -> int:
    """Show what would be destroyed, or destroy it."""
    # From standard input, so that a secret need not stand in the shell's history or in `ps`.
    texts = tuple(sys.stdin.read() if text == "-" else text for text in arguments.text)
    doomed = Doomed(texts, tuple(arguments.session))
    with open_memory(arguments) as memory:
        report = purge(memory, doomed, yes=arguments.yes)
    if arguments.json:
        show_json(report)
    else:
        _print_report(report)
    # To standard error even with --json: no receipt may hide that copies exist elsewhere.
    for name in report.remotes:
        shown = name if " " in name else repr(name)
        warning = f"warning: history was shared with {shown}; purge it there as well"
        print(f"kimi-memory: {printable(warning)}", file=sys.stderr)
    return 0


def _print_report(report: PurgeReport) -> None:
    if report.empty and not report.done:
        show("Not found: nothing in files, history or index holds it.")
        return
    show("Purged, and proven by a scan of every byte:" if report.done else "Would be destroyed:")
    show(f"  {report.lines} lines in {len(report.files)} files")
    for path in report.files[:_SHOWN]:
        show(f"    {path}")
    show(f"  {len(report.notes)} cards and events as a whole")
    show(f"  {report.objects} git objects; {report.commits} commit messages among them")
    show(f"  {report.private} hidden and machine-local files")
    if report.done:
        show(f"  receipt {report.id}")
    else:
        show("Nothing was changed. It cannot be undone; add --yes to do it.")
