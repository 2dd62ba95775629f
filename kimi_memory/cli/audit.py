"""``audit``: measure the rot in any store of memories, reading only."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.api.options import user_host
from kimi_memory.api.user_dirs import Home
from kimi_memory.cli.locate import find_memory
from kimi_memory.cli.shared import plain, show, show_json
from kimi_memory.errors import UsageError
from kimi_memory.operations.audit import STALE_DAYS, audit

if TYPE_CHECKING:
    from kimi_memory.operations.audit import Audit

_SHOWN = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "path", type=Path, nargs="?", help="a folder or an export; default: the memory"
    )
    parser.add_argument(
        "--stale-days", type=int, default=STALE_DAYS, help="unconfirmed for longer is stale"
    )
    parser.add_argument("--all", action="store_true", help="show every finding, not the worst")


def run(arguments: Namespace) -> int:
    """Measure and print; finding rot is no failure."""
    if arguments.stale_days < 0:
        raise UsageError("--stale-days is below zero. Give a number of days.")
    root = arguments.path or find_memory(arguments)
    report = audit(
        root, user_host(Home.of_user()), datetime.now(UTC), stale_days=arguments.stale_days
    )
    if arguments.json:
        counts = {str(check): count for check, count in report.counts.items()}
        show_json({**_object(report), "counts": counts})
    else:
        _show(report, whole=arguments.all)
    return 0


def _object(report: Audit) -> dict[str, object]:
    found = plain(report)
    assert isinstance(found, dict)  # a dataclass becomes an object
    return found


def _show(report: Audit, *, whole: bool) -> None:
    systems = ", ".join(f"{count} {name}" for name, count in sorted(report.systems.items()))
    show(f"{report.root}: {report.files} files, {report.memos} statements ({systems or 'none'})")
    show()
    for check, count in report.counts.items():
        share = f"{100 * count / report.memos:5.1f} %" if report.memos else ""
        show(f"  {check:<15} {count:>6}  {share}")
    shown = report.findings if whole else report.findings[:_SHOWN]
    for rot in shown:
        show()
        show(f"{rot.check}  {rot.path}:{rot.line}")
        show(f"    {rot.why}. {rot.remedy}")
    if len(shown) < len(report.findings):
        show()
        show(f"… and {len(report.findings) - len(shown)} more: --all or --json shows them.")
    for line in report.skipped:
        show(f"not read: {line}")
