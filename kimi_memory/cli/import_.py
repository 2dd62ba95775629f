"""``import``: take over what another system remembers, and keep in step with it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from kimi_memory.api.options import Home, Opening
from kimi_memory.cli.merge import format_report
from kimi_memory.cli.shared import (
    find_person,
    open_memory,
    say,
    show,
    show_json,
    show_report,
    show_result,
)
from kimi_memory.config import MARKER
from kimi_memory.errors import TranscriptError, UsageError
from kimi_memory.operations.branches import place_branch
from kimi_memory.operations.bundles import Imported as BundleImport
from kimi_memory.operations.bundles import import_as_branch, import_bundle, unpack_copy
from kimi_memory.operations.foreign_stores import SYSTEMS
from kimi_memory.operations.import_memories import Imported, import_store

_BUNDLE = "bundle"
_USAGE = "Write 'import bundle FILE [FOLDER]', or one PATH of another system."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "path",
        type=Path,
        help="a folder or an export of another system; or the word 'bundle', then a file that "
        "'export bundle' wrote",
    )
    parser.add_argument(
        "file", type=Path, nargs="?", help="after 'bundle': it is merged into this memory"
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        help="after 'bundle' and the file: another copy of the memory, or a new folder for one",
    )
    parser.add_argument(
        "--as",
        dest="branch",
        default="",
        metavar="NAME",
        help="merge a bundle into a new branch of this memory, which lies beside it or in the "
        "new folder",
    )
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
    parser.add_argument(
        "--identity",
        type=Path,
        metavar="FILE",
        help="the key of age or SSH that a bundle is encrypted for",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Import what is new and changed at the source, as jobs that undo can take back."""
    if arguments.file is not None:
        return _import_bundle(arguments)
    if arguments.branch:
        raise UsageError("--as is for a bundle. Write 'import bundle FILE --as NAME'.")
    system = "" if arguments.system == "auto" else arguments.system
    name = arguments.name or _source_name(arguments.path)
    with open_memory(arguments) as memory:
        found = import_store(
            memory, arguments.path, system=system, name=name, dry_run=arguments.dry_run
        )
    if arguments.json:
        show_json(found)
    else:
        print_result(found)
    # A folder may be empty still; a file that is named was meant to hold something.
    unread = arguments.path.is_file() and not found.seen and not found.gone
    return TranscriptError.exit_code if unread else 0


def _import_bundle(arguments: Namespace) -> int:
    """Merge a bundle into a copy of its memory, or make a new copy of it."""
    if str(arguments.path) != _BUNDLE or arguments.system != "auto" or arguments.name:
        raise UsageError(_USAGE)
    path, dry_run, identity = arguments.file.expanduser(), arguments.dry_run, arguments.identity
    folder, branch = arguments.folder and arguments.folder.expanduser(), arguments.branch
    if branch:
        with open_memory(arguments) as memory:
            place = folder or place_branch(memory, branch)
            found = import_as_branch(
                memory, path, branch, place, identity=identity, dry_run=dry_run
            )
    elif folder is None or (folder / MARKER).is_file():
        arguments.memory = folder or arguments.memory
        with open_memory(arguments) as memory:
            found = import_bundle(memory, path, identity=identity, dry_run=dry_run)
    else:
        opening = Opening(home=Home.of_user(), actor=find_person(), background=False)
        found = unpack_copy(path, folder, opening, identity=identity, dry_run=dry_run)
    return show_result(arguments, found, _format_bundle(found, branch, dry_run=dry_run))


def _format_bundle(found: BundleImport, branch: str, *, dry_run: bool) -> Iterator[str]:
    if branch and not dry_run:
        yield say("{name} is a branch now: {folder}", name=branch, folder=found.folder)
    if found.merged is not None:
        yield from format_report(found.merged, dry_run=dry_run)
    else:
        text = "Would make a copy in {folder}: {count} files, at {commit}"
        text = text if dry_run else "Made a copy in {folder}: {count} files, at {commit}"
        yield say(text, folder=found.folder, count=found.files, commit=found.commit[:10])
    if found.signed:
        signer = found.signer or say("a key that is not known here")
        yield f"  {say('the file is signed by {name}', name=signer)}"
    text = "the name {name} stands for another version there; it stays here as it is"
    for name in found.kept:
        yield f"  {say(text, name=name)}"


def _source_name(path: Path) -> str:
    """Return a path as it is on every machine of its owner: from the home directory on."""
    place, home = path.expanduser().resolve(), Path.home().resolve()
    # The name stands in the memory, which may be shared: without it, the user's own name would
    # stand there.
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)


def print_result(found: Imported) -> None:
    """Print what an import did."""
    show(f"{found.name}: {found.seen} statements, {found.unchanged} unchanged")
    for report in found.jobs:
        show_report(report)
    # What vanished at the source may have been cleaned up there; here a person decides.
    for line in found.gone:
        show(f"gone at the source, kept here: {line}")
    for line in found.skipped:
        show(f"not read: {line}")
