"""``index``: bring the indexes up to date, or rebuild them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import open_memory, show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--full", action="store_true", help="rebuild from the files alone")


def run(arguments: Namespace) -> int:
    """Refresh the index."""
    with open_memory(arguments) as memory, Progress("units") as progress:
        report = memory.index.refresh(full=arguments.full, progress=progress.set)
    if arguments.json:
        show_json(report)
    else:
        changed = f"{report.added} added, {report.removed} removed"
        show(f"{report.units} units of {report.files} files ({changed})")
        for path, why in report.broken:
            show(f"left out  {path}: {why}")
    return 0
