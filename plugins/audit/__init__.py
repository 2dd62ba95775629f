"""The command ``audit``: outdated, duplicate and contradictory entries of any memory store.

Why it exists: before people move their memories here, they want to know what those are worth.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory import hookimpl
from kimi_memory.cli.shared import (
    find_memory,
    say,
    say_check,
    say_finding,
    show,
    show_json,
    user_plugins,
)
from kimi_memory.domain.command import Command
from kimi_memory.domain.plugin_page import PluginPage
from kimi_memory.errors import UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.nlp.basic.sentences import pad

from .page import audit_page
from .report import STALE_DAYS, Audit, audit

__all__ = ["Audit", "audit", "register_commands", "register_pages"]

# A screen full; `--all` and `--json` show the rest.
_SHOWN = 20


@hookimpl
def register_commands() -> list[Command]:
    """Add ``audit``."""
    help = "find outdated, duplicate and contradictory entries in any memory store"
    return [Command("audit", help, _add_arguments, _run, "check")]


@hookimpl
def register_pages() -> list[PluginPage]:
    """Add the page of an audit."""
    return [audit_page()]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", type=Path, nargs="?", help="a folder or an export; default: the memory"
    )
    parser.add_argument(
        "--stale-days", type=int, default=STALE_DAYS, help="unconfirmed for longer is stale"
    )
    parser.add_argument("--all", action="store_true", help="show every finding, not the worst")


def _run(arguments: Namespace) -> int:
    """Measure and print; finding rot is no failure."""
    if arguments.stale_days < 0:
        raise UsageError("--stale-days is below zero. Give a number of days.")
    root = arguments.path or find_memory(arguments)
    report = audit(root, user_plugins(), datetime.now(UTC), stale_days=arguments.stale_days)
    if arguments.json:
        counts = {str(check): count for check, count in report.counts.items()}
        show_json({**_to_json_object(report), "counts": counts})
    else:
        _print_report(report, whole=arguments.all)
    return 0


def _to_json_object(report: Audit) -> dict[str, object]:
    found = plain(report)
    assert isinstance(found, dict)  # a dataclass becomes an object
    return found


def _print_report(report: Audit, *, whole: bool) -> None:
    systems = ", ".join(f"{count} {name}" for name, count in sorted(report.systems.items()))
    counts = say("{files} files, {memos} statements", files=report.files, memos=report.memos)
    show(f"{report.root}: {counts} ({systems or say('none')})")
    show()
    for check, count in report.counts.items():
        share = f"{100 * count / report.memos:5.1f} %" if report.memos else ""
        show(f"  {pad(say_check(str(check)), 15)} {count:>6}  {share}")
    shown = report.findings if whole else report.findings[:_SHOWN]
    for rot in shown:
        show()
        show(f"{say_check(str(rot.check))}  {rot.path}:{rot.line}")
        why, remedy = say_finding(rot.why), say_finding(rot.remedy)
        show("    " + say("{why}. {remedy}", why=why, remedy=remedy))
    if len(shown) < len(report.findings):
        show()
        more = "… and {count} more: --all or --json shows them."
        show(say(more, count=len(report.findings) - len(shown)))
    for line in report.skipped:
        show(say("not read: {line}", line=line))
