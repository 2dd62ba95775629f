"""``init``: make a memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cli.shared import PERSON, show, show_json
from kimi_memory.cli.words import find_locale


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="default: here")
    parser.add_argument("--name", default="", help="what to call the memory")
    parser.add_argument(
        "--language",
        choices=["auto", "zh", "en"],
        default="auto",
        help="of generated pages; default: auto",
    )


def run(arguments: Namespace) -> int:
    """Make the folder, its pages and its history."""
    folder = arguments.memory or arguments.folder
    opening = Opening(actor=PERSON, background=False)
    with Memory.create(
        folder,
        name=arguments.name,
        language=arguments.language,
        # The environment is read here and nowhere below, see `tests/test_architecture.py`.
        locale=find_locale(),
        opening=opening,
    ) as memory:
        files = memory.store.files()
        if arguments.json:
            show_json({"memory": memory.root, "files": files, "notes": memory.notes})
            return 0
        show(f"Memory in {memory.root}")
        for path in files:
            show(f"  {path}")
        for note in memory.notes:
            show(note)
        # An empty folder shows nobody what the program is for.
        show("Next: kimi-memory ingest <transcripts>, then kimi-memory recall <question>")
        show("Jobs: kimi-memory schedule --install lets the daily and the weekly job run")
    return 0
