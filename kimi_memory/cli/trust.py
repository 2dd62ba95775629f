"""``trust``: say whose SSH keys are known, and what their signatures are worth."""

from __future__ import annotations

import getpass
import platform
from argparse import ArgumentParser, Namespace
from datetime import date
from pathlib import Path

from kimi_memory.api.options import Home
from kimi_memory.cli.shared import pad, say, show_result
from kimi_memory.domain.note import Origin
from kimi_memory.errors import UsageError
from kimi_memory.store.git.signers import Signer, Signers, read_key
from kimi_memory.store.git.signing_key import NAME_KEY


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    add = steps.add_parser("add", help="know a key")
    add.add_argument("principal", nargs="?", default="", help="whose it is, such as li@laptop")
    add.add_argument("key", nargs="?", type=Path, help="the file of the public key")
    add.add_argument(
        "--self",
        action="store_true",
        dest="own",
        help="the key that this machine signs with, under the name of user and machine",
    )
    add.add_argument(
        "--as",
        choices=["human", "agent", "remote"],
        default="human",
        dest="level",
        help="whose word it is: yours, an agent's, or a stranger's; default: human",
    )
    add.add_argument("--until", metavar="DATE", help="from this day on it counts no more")
    steps.add_parser("list", help="list the keys that are known")
    remove = steps.add_parser("remove", help="forget the keys of somebody")
    remove.add_argument("principal", help="as the list shows it")


def run(arguments: Namespace) -> int:
    """Add, list or remove keys."""
    home = Home.of_user()
    signers = Signers(home.config)
    if arguments.step == "add":
        found = [_add_signer(arguments, home, signers)]
    elif arguments.step == "remove":
        found = signers.remove(arguments.principal)
    else:
        found = signers.read()
    gone = f"{say('removed')} " if arguments.step == "remove" else ""
    lines = []
    for one in found:
        until = f"  {say('until')} {one.until}" if one.until else ""
        lines.append(f"{gone}{pad(one.principal, 24)} {one.level:<7} {one.key[:60]}{until}")
    none = say("No keys are known. Add one with 'kimi-memory trust add NAME KEY.pub'.")
    return show_result(arguments, found, lines or [none])


def _add_signer(arguments: Namespace, home: Home, signers: Signers) -> Signer:
    if arguments.own == bool(arguments.principal) or arguments.own == bool(arguments.key):
        raise UsageError("Give a name and the file of a public key, or --self alone.")
    principal, path = arguments.principal, arguments.key
    if arguments.own:
        key = home.signing_key()
        if key is None:
            raise UsageError(f"This machine signs with no key. {NAME_KEY}")
        principal, path = f"{getpass.getuser()}@{platform.node() or 'here'}", key
    try:
        until = date.fromisoformat(arguments.until) if arguments.until else None
    except ValueError:
        raise UsageError(f"{arguments.until!r} is no date. Write it as 2027-02-27.") from None
    return signers.add(principal, read_key(path), Origin(arguments.level), until)
