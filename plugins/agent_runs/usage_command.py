"""``usage``: what jobs, models and runs of agents came to, by day, model, agent and more."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.cli.shared import (
    count_columns,
    find_memory,
    pad,
    say,
    show_result,
)
from kimi_memory.cluster.fleet import find_memories
from kimi_memory.domain.agent_run import Usage
from kimi_memory.errors import UsageError
from kimi_memory.runs.metering import KEYS, list_usage, sum_usage

_AGO = re.compile(r"(\d{1,4})d")
_COLUMNS = {
    "calls": "ASKED", "tokens_in": "IN", "tokens_out": "OUT", "cpu_s": "CPU", "wall_s": "TIME",
    "reads": "READS", "writes": "WRITES", "stored_bytes": "BYTES", "log_bytes": "LOG",
}  # fmt: skip


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="FOLDER",
        help="memories, or folders with memories below; default: the one here",
    )  # fmt: skip
    parser.add_argument(
        "--by", default="memory,model", help="of memory, day, node, agent, user, job and model"
    )
    parser.add_argument("--since", default="", metavar="WHEN", help="a date, or 30d; default: all")
    parser.add_argument(
        "--otlp", default="", metavar="URL",
        help="also send the sums by memory, job and model to this collector of OpenTelemetry",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Print sums of what was used."""
    by = [one.strip() for one in arguments.by.split(",") if one.strip()]
    if wrong := [one for one in by if one not in KEYS]:
        raise UsageError(f"{wrong[0]!r} is nothing to sum by. Use {', '.join(KEYS)}.")
    rows, counted = list[Usage](), set[str]()
    for folder in dict.fromkeys(one.resolve() for one in _find_folders(arguments)):
        with Memory.open(folder, Opening(background=False)) as memory:
            rows += list_usage(memory, _first_day(arguments.since), counted=counted)
    if arguments.otlp:
        exporting = import_module("kimi_memory.plugins.agent_runs.usage_export")
        exporting.export_usage(sum_usage(rows, exporting.BY), arguments.otlp)
    found = sum_usage(rows, by)
    show_result(arguments, found, _format_table(found, by))
    return 0


def _find_folders(arguments: Namespace) -> Iterator[Path]:
    if not arguments.folders:
        yield find_memory(arguments)
    for given in arguments.folders:
        found = list(find_memories(given)) if given.is_dir() else []
        if not found:
            raise UsageError(f"There is no memory in {given}. Name folders with memories.")
        yield from found


def _first_day(text: str) -> date | None:
    if not text:
        return None
    if found := _AGO.fullmatch(text):
        return datetime.now(UTC).date() - timedelta(days=int(found[1]))
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no date. Write 2026-02-27, or 30d.") from None


def _format_table(rows: list[Usage], by: list[str]) -> Iterator[str]:
    # Columns without a figure would only make the others narrow.
    used = [name for name in _COLUMNS if any(getattr(one, name) for one in rows)]
    cells = [[*(say(name.upper()) for name in by), *(say(_COLUMNS[name]) for name in used)]]
    for one in rows:
        figures = [f"{getattr(one, name):,}" for name in used]
        cells.append([*(getattr(one, name) or "-" for name in by), *figures])
    widths = [max(map(count_columns, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        texts = [pad(cell, width) for cell, width in zip(row[: len(by)], widths, strict=False)]
        numbers = [
            " " * (width - count_columns(cell)) + cell
            for cell, width in zip(row[len(by) :], widths[len(by) :], strict=True)
        ]
        yield "  ".join([*texts, *numbers]).rstrip()
