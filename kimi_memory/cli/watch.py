"""``watch``: keep the index up to date while somebody edits the files."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing

from kimi_memory.cli.shared import open_memory, show
from kimi_memory.cli.signals import until_signal
from kimi_memory.errors import UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.operations.watcher import EVERY_SECONDS, SETTLE_MS, Batch, watch

# A pull changes hundreds of files at once, and the line must stay one line.
_SHOWN = 3


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--settle",
        type=int,
        default=SETTLE_MS,
        metavar="MS",
        help=f"gather changes until it was quiet for so many milliseconds; default: {SETTLE_MS}",
    )
    parser.add_argument(
        "--every",
        type=float,
        default=EVERY_SECONDS,
        metavar="SECONDS",
        help=f"look at the whole folder after so long a silence; default: {EVERY_SECONDS:g}",
    )


def run(arguments: Namespace) -> int:
    """Watch until interrupted or asked to end; both are a clean end."""
    if arguments.settle < 1 or arguments.every <= 0:
        raise UsageError("--settle and --every must be above zero.")
    with open_memory(arguments) as memory, until_signal() as stop:
        batches = watch(memory, stop, settle_ms=arguments.settle, every_seconds=arguments.every)
        with closing(batches):
            for batch in batches:
                if arguments.json:
                    print(json.dumps(plain(batch), ensure_ascii=False), flush=True)
                else:
                    _print_batch(batch, memory.zone)
    return 0


def _print_batch(batch: Batch, zone: Zone) -> None:
    """Print one line."""
    at = f"{in_zone(batch.at, zone):%H:%M:%S}"
    told = f"{at}  {counted(batch.units, 'units')} ({batch.added} added, "
    told += f"{counted(batch.removed, 'files')} taken out)"
    if batch.changed:
        more = len(batch.changed) - _SHOWN
        names = ", ".join(batch.changed[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        told += f"  {names}"
    if batch.broken:
        told += f"  {len(batch.broken)} not readable: {batch.broken[0]}"
    if batch.trouble:
        told = f"{at}  not now: {batch.trouble}"
    show(told)
    # Into a pipe, Python would keep the lines until there are some thousand letters.
    sys.stdout.flush()
