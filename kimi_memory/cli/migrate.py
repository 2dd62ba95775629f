"""``migrate``: move the memory to another place, and check it there."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.cli.shared import find_person, open_memory, say, show_result
from kimi_memory.errors import UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.operations.migrate import Migrated, Place, migrate, take_back
from kimi_memory.operations.migrate_remote import RemotePlace, find_remote
from kimi_memory.operations.migrate_ssh import read_place
from kimi_memory.operations.new_folders import borrow_folder
from kimi_memory.operations.take_in import read_stream, take_in


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "to",
        nargs="?",
        help="the name of a remote, a new or empty folder, another copy of this memory, "
        "ssh://host/path for either on another machine, or with --drop a drop folder",
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
        "--program",
        default="kimi-memory",
        help="how kimi-memory is called on the other machine; default: kimi-memory",
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
    parser.add_argument(
        "--receive",
        metavar="FOLDER",
        type=Path,
        help="take in what 'migrate' on another machine sends; it calls this over ssh by itself",
    )


def run(arguments: Namespace) -> int:
    """Move it, or say what moving it would carry."""
    chosen = (arguments.to is not None, arguments.back, arguments.receive is not None)
    if sum(chosen) != 1:
        raise UsageError("Say where to, or --back alone.")
    if arguments.receive is not None:
        return _receive(arguments.receive.expanduser(), dry_run=arguments.dry_run)
    with open_memory(arguments) as memory:
        if arguments.back:
            place = take_back(memory)
            found: object = {"back": place}
            text = "It takes writes here again. What was written in {place} since: merge it."
            line = say(text, place=place)
        else:
            dry_run = arguments.dry_run or not (arguments.yes or arguments.keep_source)
            to, drop = _read_place(memory, arguments)
            found = moved = migrate(
                memory,
                to,
                since=arguments.since,
                drop=drop,
                keep_source=arguments.keep_source,
                dry_run=dry_run,
            )
            line = _describe(moved, dry_run=dry_run)
    return show_result(arguments, found, line)


def _read_place(memory: Memory, arguments: Namespace) -> tuple[Place, bool]:
    """Return where to, and whether that is a drop folder."""
    remote = find_remote(memory, arguments.to)
    if remote is not None:
        place = Path(remote.url) if remote.drop else RemotePlace(remote)
        return place, remote.drop or arguments.drop
    found = read_place(arguments.to, arguments.program) or Path(arguments.to).expanduser()
    return found, arguments.drop


def _receive(folder: Path, *, dry_run: bool) -> int:
    """Take in what comes on standard input, and print in one line what lies there then."""
    opening = Opening(home=Home.of_user(), actor=find_person(), background=False)
    with borrow_folder() as work:
        bundle = work / "memory.bundle"
        asked = read_stream(sys.stdin.buffer, bundle)
        found = take_in(bundle, folder, opening, asked, dry_run=dry_run)
    print(json.dumps(plain(found), ensure_ascii=False))
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
