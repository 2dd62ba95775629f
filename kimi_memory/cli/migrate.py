"""``migrate``: move the memory to another place, and check it there."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.cli.words import say
from kimi_memory.errors import UsageError
from kimi_memory.operations.migrate import Migrated, migrate, take_back


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "to",
        nargs="?",
        type=Path,
        help="a new or empty folder, another copy of this memory, or with --drop a drop folder",
    )
    parser.add_argument(
        "--keep-source", action="store_true", help="both go on as copies; nothing is closed here"
    )
    parser.add_argument(
        "--since", metavar="POINT", default="", help="carry only what came after a point"
    )
    parser.add_argument(
        "--drop", action="store_true", help="leave a bundle there, which something else carries on"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="carry it to a temporary folder and check it there"
    )
    parser.add_argument(
        "--yes", action="store_true", help="do it; without, only --keep-source changes anything"
    )
    parser.add_argument(
        "--back", action="store_true", help="let a memory that was moved take writes here again"
    )


def run(arguments: Namespace) -> int:
    """Move it, or say what moving it would carry."""
    if (arguments.to is None) != arguments.back:
        raise UsageError("Say where to, or --back alone.")
    with open_memory(arguments) as memory:
        if arguments.back:
            place = take_back(memory)
            found: object = {"back": place}
            text = "It takes writes here again. What was written in {place} since: merge it."
            line = say(text, place=place)
        else:
            dry_run = arguments.dry_run or not (arguments.yes or arguments.keep_source)
            found = moved = migrate(
                memory,
                arguments.to.expanduser(),
                since=arguments.since,
                drop=arguments.drop,
                keep_source=arguments.keep_source,
                dry_run=dry_run,
            )
            line = _describe(moved, dry_run=dry_run)
    show_result(arguments, found, line)
    return 0


def _describe(found: Migrated, *, dry_run: bool) -> str:
    text = "{count} files at {commit}, {bytes} bytes"
    size = f"{found.bytes:,}"
    what = say(text, count=found.files, commit=found.commit[:10], bytes=size)
    if dry_run:
        text = "Would carry {what}, to {folder}. Nothing was changed; add --yes to do it."
        return say(text, what=what, folder=found.folder)
    text = "Moved {what}, to {folder}" if found.moved else "Copied {what}, to {folder}"
    lines = [say(text, what=what, folder=found.folder)]
    lines += [f"  {say('the same there: {what}', what=say(line))}" for line in found.checked]
    lines += [say("This folder takes no writes any more.")] if found.moved else []
    return "\n".join(lines)
