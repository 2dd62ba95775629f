"""``sealed``: keep memories in a folder that is encrypted on disk, for the keys it names."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.options import Home
from kimi_memory.cli.shared import foretell, say, show_result
from kimi_memory.errors import UsageError
from kimi_memory.operations.sealed_folders import (
    add_recipient,
    check_new,
    close_sealed,
    create_sealed,
    list_recipients,
    open_sealed,
    remove_recipient,
)
from kimi_memory.spaces.space_folder import SpaceFolder


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    create = steps.add_parser("create", help="make a sealed folder")
    create.add_argument("folder", type=Path, help="a new or empty folder")
    create.add_argument(
        "--to", action="append", required=True, metavar="KEY",
        help="who can open it: age1…, an SSH public key, or a file of them; may be repeated",
    )  # fmt: skip
    create.add_argument("--dry-run", action="store_true", help="only say what would be done")
    opened = steps.add_parser("open", help="show what it holds in an empty folder")
    opened.add_argument("folder", type=Path, help="the sealed folder")
    opened.add_argument("mount", type=Path, help="a new or empty folder, where a memory can lie")
    close = steps.add_parser("close", help="take the open folder away again")
    close.add_argument("mount", type=Path, help="the open folder")
    listed = steps.add_parser("list", help="list the keys of those who can open it")
    listed.add_argument("folder", type=Path, help="the sealed folder")
    for name, help in (
        ("add", "let somebody open it"),
        ("remove", "encrypt all of it anew, without somebody"),
    ):
        step = steps.add_parser(name, help=help)
        step.add_argument("folder", type=Path, help="the sealed folder")
        step.add_argument(
            "key", nargs="?" if name == "add" else None,
            help="age1…, an SSH public key, or a file of them",
        )  # fmt: skip
        step.add_argument("--dry-run", action="store_true", help="only say what would be done")
    steps.choices["add"].add_argument(
        "--space",
        default="",
        metavar="NAME",
        help="let in the keepers and owners of this space that have a key, instead of one KEY",
    )
    for name in ("open", "add", "remove"):
        steps.choices[name].add_argument(
            "--identity", type=Path, required=True, metavar="FILE",
            help="a key that can open it: a file of age, or a private SSH key",
        )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Carry out one step."""
    step = arguments.step
    if step == "list":
        found = list_recipients(arguments.folder)
        return show_result(arguments, found, found)
    if getattr(arguments, "dry_run", False):
        return foretell(arguments, _foretell(arguments))
    line = _carry_out(arguments)
    place = arguments.mount if step == "close" else arguments.folder
    return show_result(arguments, {step: str(place)}, line)


def _carry_out(arguments: Namespace) -> str:
    if arguments.step == "close":
        close_sealed(arguments.mount)
        return say("{mount} is closed.", mount=arguments.mount)
    folder = arguments.folder.absolute()
    if arguments.step == "create":
        create_sealed(folder, arguments.to)
        return say(
            "{folder} is sealed. Open it with 'kimi-memory sealed open {folder} PLACE --identity "
            "FILE'.",
            folder=folder,
        )
    if arguments.step == "open":
        open_sealed(folder, arguments.mount.absolute(), arguments.identity)
        return say(
            "{folder} is open in {mount}, for you alone. Close it with 'kimi-memory sealed close "
            "{mount}'.",
            folder=folder, mount=arguments.mount,
        )  # fmt: skip
    if arguments.step == "add":
        keys = _find_keys(arguments)
        for key in keys.values():
            add_recipient(folder, key, arguments.identity)
        return say("{key} can open {folder} now.", key=", ".join(keys), folder=folder)
    key = arguments.key[:80]
    remove_recipient(folder, arguments.key, arguments.identity)
    return say(
        "{folder} was encrypted anew without {key}. What that one could read before may have been "
        "copied.",
        key=key, folder=folder,
    )  # fmt: skip


def _foretell(arguments: Namespace) -> str:
    folder = arguments.folder
    if arguments.step == "create":
        folder = folder.absolute()
        check_new(folder, arguments.to)
        key = ", ".join(one[:80] for one in arguments.to)
        return say("Would make the sealed folder {folder}, for {key}.", folder=folder, key=key)
    if arguments.step == "add":
        keys = _find_keys(arguments)
        for one in keys.values():
            add_recipient(folder, one, arguments.identity, dry_run=True)
        return say("Would let {key} open {folder}.", key=", ".join(keys), folder=folder)
    remove_recipient(folder, arguments.key, arguments.identity, dry_run=True)
    key = arguments.key[:80]
    return say("Would encrypt all of {folder} anew, without {key}.", key=key, folder=folder)


def _find_keys(arguments: Namespace) -> dict[str, str]:
    """Return the keys that are to be let in, by how they are called.

    Raises:
        UsageError: none or two of them were named, or the space has nobody new.
    """
    if bool(arguments.key) == bool(arguments.space):
        raise UsageError("Say who is let in: a KEY, or --space NAME.")
    if arguments.key:
        return {arguments.key[:80]: arguments.key}
    space = SpaceFolder.open(Home.of_user(), arguments.space)
    known = list_recipients(arguments.folder)
    found = {
        one.sub: one.recipient
        for one in space.members.values()
        # A key itself: what names a file would have a file of this machine read.
        if one.recipient.startswith(("age1", "ssh-"))
        and one.recipient not in known
        and {*one.roles} & {"keeper", "owner"}
    }
    if not found:
        raise UsageError(
            f"The space {space.name} has no keeper or owner whose key is not in already. Give "
            "one with 'kimi-memory space add … --recipient KEY'."
        )
    return found
