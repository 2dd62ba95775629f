"""``backup``: one archive of a memory with its history, checked; or check or restore one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.backup import back_up, check_backup, restore
from kimi_memory.operations.health_checks import shown_size


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", type=Path, help="a file to write, or a folder for a dated one")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--verify", action="store_true", help="only check an archive that is there")
    what.add_argument("--restore", type=Path, metavar="FOLDER", help="unpack it into a new folder")


def run(arguments: Namespace) -> int:
    """Write and check, check, or restore; 1 where an archive is damaged."""
    path = arguments.path.expanduser()
    if arguments.verify:
        found, done = check_backup(path), "checked"
    elif arguments.restore:
        found, done = restore(path, arguments.restore.expanduser()), "restored"
    else:
        with open_memory(arguments) as memory:
            # The history in the archive should hold what its files hold.
            memory.batch.flush()
            found, done = back_up(memory, path), "written and checked"
    size = f"{counted(found.files, 'files')}, {shown_size(found.bytes)}"
    lines = [f"damaged: {line}" for line in found.problems]
    lines.append(f"{found.path}: {size}, {'damaged' if found.problems else done}")
    show_result(arguments, found, lines)
    # A scheduler must see a damaged archive; the words are for the person who looks.
    return int(bool(found.problems))
