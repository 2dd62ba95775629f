"""``index``: bring the indexes up to date, or rebuild them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import open_memory, say, show_result


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--full", action="store_true", help="rebuild from the files alone")


def run(arguments: Namespace) -> int:
    """Refresh the index."""
    with open_memory(arguments) as memory, Progress("files") as progress:
        report = memory.index.refresh(full=arguments.full, progress=progress.set)
    units = "{units} units of {files} files ({added} added, {removed} removed)"
    counts = {"added": report.added, "removed": report.removed}
    lines = [say(units, units=report.units, files=report.files, **counts)]
    lines += [f"left out  {path}: {why}" for path, why in report.broken]
    return show_result(arguments, report, lines)
