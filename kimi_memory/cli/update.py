"""``update``: read every imported source again, and bring the index up to date."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.import_ import print_result
from kimi_memory.cli.shared import open_memory, say, show, show_json
from kimi_memory.operations.import_memories import Imported, import_store, list_sources


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Import what is new and changed at each source that is on this machine."""
    dry_run, found, away = arguments.dry_run, list[Imported](), list[str]()
    with open_memory(arguments) as memory:
        for name in list_sources(memory):
            # A source is known by its place, unless a person named it otherwise.
            place = Path(name).expanduser()
            if place.is_absolute() and place.exists():
                found.append(import_store(memory, place, name=name, dry_run=dry_run))
            else:
                away.append(name)
        index = None if dry_run else memory.index.refresh()
    if arguments.json:
        show_json({"imports": found, "away": away, "index": index})
        return 0
    if not found and not away:
        show(say("Nothing was imported yet."))
    for one in found:
        print_result(one)
    for name in away:
        how = "{name}: it is not here; 'kimi-memory import PATH --name {name}' reads it."
        show(say(how, name=name))
    if index is not None:
        counts = {"units": index.units, "files": index.files}
        show(say("Index: {units} units of {files} files", **counts))
    return 0
