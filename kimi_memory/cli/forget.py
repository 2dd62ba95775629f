"""``forget``: archive what must not be recalled, and keep it from coming back."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, replace

from kimi_memory.cli.filter_options import NOTE_HELP, find_named
from kimi_memory.cli.shared import (
    finish_reports,
    moment,
    on_terminal,
    open_memory,
    say,
    show,
    show_report,
    show_result,
    translate,
)
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import UsageError
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import read_tombstones


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", nargs="?", default="", help=NOTE_HELP)
    parser.add_argument("--key", default="", help="every card of this key")
    parser.add_argument("--session", default="", help="everything derived from this session alone")
    parser.add_argument("--query", default="", metavar="WORDS", help="all that says these words")
    parser.add_argument("--since", default="", metavar="DATE", help="all said from then on")
    parser.add_argument("--until", default="", metavar="DATE", help="all said before then")
    parser.add_argument("--why", default="", help="a reason, kept with the tombstone")
    parser.add_argument("--hash", action="store_true", help="the tombstone keeps only a hash")
    parser.add_argument(
        "--list",
        action="store_true",
        help="on a terminal: what was forgotten, when, by whom and why",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")
    parser.add_argument(
        "--yes", action="store_true", help="forget a session, words or a time without asking"
    )


def run(arguments: Namespace) -> int:
    """Forget, as a job that undo can take back; what may be much is shown first."""
    if arguments.list:
        return _list_forgotten(arguments)
    with open_memory(arguments) as memory:
        since, until = (
            moment(text, memory.zone) if text else None
            for text in (arguments.since, arguments.until)
        )
        wanted = Wanted(
            note=find_named(memory, arguments.id) if arguments.id else "",
            key=arguments.key,
            session=arguments.session,
            query=arguments.query,
            since=since,
            until=until,
            why=arguments.why,
            hashed=arguments.hash,
        )
        if not arguments.dry_run and wanted.broad and not arguments.yes:
            # A word may stand in many notes: nobody should learn how many by having forgotten
            # them.
            preview = forget(memory, wanted, dry_run=True)
            if not _is_confirmed(preview):
                finish_reports(arguments, [preview])
                if not arguments.json:
                    show(say("Nothing was changed. Add --yes to do it; undo can take it back."))
                return 0
        report = forget(memory, wanted, dry_run=arguments.dry_run)
    return finish_reports(arguments, [report])


def _list_forgotten(arguments: Namespace) -> int:
    """Print what was forgotten, the latest last; its words where they are kept."""
    # A program that reads the pipe may be an agent, from which it is to stay away.
    if not sys.stdout.isatty():
        raise UsageError("What was forgotten is shown on a terminal alone.")
    with open_memory(arguments) as memory:
        stones = sorted(read_tombstones(memory.store), key=lambda one: one.at)
        zone = memory.zone
    lines = []
    for one in stones:
        said = say("only a hash is kept") if one.hashed else one.value or say("every value")
        why = f": {translate(one.why)}" if one.why else ""
        at = f"{in_zone(one.at, zone):%Y-%m-%d %H:%M}"
        lines.append(f"{at}  {one.key or say('any key')}  {one.scope}  {said}  {one.by}{why}")
    found = [asdict(one) for one in stones]
    return show_result(arguments, found, lines or [say("Nothing was forgotten.")])


def _is_confirmed(preview: JobReport) -> bool:
    """Whether a person at a terminal says yes to what would go."""
    # A pipe cannot answer: without a terminal the command shows what it would do, and `--yes` is
    # the answer.
    if not preview.id or not (on_terminal() and sys.stdin.isatty()):
        return False
    # Without the diff, which for a session would push the question off the screen.
    show_report(replace(preview, diff=""))
    print(say("Forget this? [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in {"y", "yes", "是", "好"}
