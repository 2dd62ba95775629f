"""``import``: take over what another system remembers, and keep in step with it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, show, show_json, show_report
from kimi_memory.errors import TranscriptError
from kimi_memory.operations.foreign_stores import SYSTEMS
from kimi_memory.operations.import_memories import Imported, import_store


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", type=Path, help="a folder or an export of another system")
    parser.add_argument(
        "--from",
        dest="system",
        choices=["auto", *SYSTEMS],
        default="auto",
        help="which system wrote it; default: found out file by file",
    )
    parser.add_argument(
        "--name", default="", help="under which the source is known later; default: its place"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Import what is new and changed at the source, as jobs that undo can take back."""
    system = "" if arguments.system == "auto" else arguments.system
    name = arguments.name or _source_name(arguments.path)
    with open_memory(arguments) as memory:
        found = import_store(
            memory, arguments.path, system=system, name=name, dry_run=arguments.dry_run
        )
    if arguments.json:
        show_json(found)
    else:
        _print_result(found)
    # A folder may be empty still; a file that is named was meant to hold something.
    unread = arguments.path.is_file() and not found.seen and not found.gone
    return TranscriptError.exit_code if unread else 0


def _source_name(path: Path) -> str:
    """Return a path as it is on every machine of its owner: from the home directory on."""
    place, home = path.expanduser().resolve(), Path.home().resolve()
    # The name stands in the memory, which may be shared: without it, the user's own name would
    # stand there.
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)


def _print_result(found: Imported) -> None:
    show(f"{found.name}: {found.seen} statements, {found.unchanged} unchanged")
    for report in found.jobs:
        show_report(report)
    # What vanished at the source may have been cleaned up there; here a person decides.
    for line in found.gone:
        show(f"gone at the source, kept here: {line}")
    for line in found.skipped:
        show(f"not read: {line}")
