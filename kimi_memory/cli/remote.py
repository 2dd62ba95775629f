"""``remote``: add, list, check or remove the places this memory is synced with."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import open_memory, pad, say, show_result, translate
from kimi_memory.operations.encryption import Encryption
from kimi_memory.operations.remotes import (
    CHECK_SECONDS,
    add_remote,
    check_remote,
    list_remotes,
    offer_remotes,
    remove_remote,
)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    add = steps.add_parser("add", help="name a repository that copies of this memory share")
    add.add_argument("name", help="how commands call it")
    add.add_argument("url", help="https, ssh, user@host:path, or a folder")
    add.add_argument(
        "--drop",
        action="store_true",
        help="a folder of bundles that Syncthing, a cloud or a stick carries to other copies",
    )
    add.add_argument(
        "--role",
        choices=["primary", "replica", "cache"],
        default="",
        help="what you take it for, for lists; default: replica, of a folder of bundles cache",
    )
    add.add_argument(
        "--encrypt",
        action="append",
        default=[],
        metavar="RECIPIENT",
        help="of a folder of bundles: encrypt them for this key of age or SSH, or a file of keys; "
        "may be repeated",
    )
    add.add_argument(
        "--identity",
        type=Path,
        metavar="FILE",
        help="with --encrypt: the private key that reads what others encrypted",
    )
    steps.add_parser("list", help="list the remotes, and what was not sent to them yet")
    remove = steps.add_parser("remove", help="forget a remote; what lies there stays")
    remove.add_argument("name", help="of the remote")
    check = steps.add_parser("check", help="ask a remote what it has")
    check.add_argument("name", help="of the remote")
    check.add_argument(
        "--timeout", type=float, default=CHECK_SECONDS, metavar="S", help="seconds to wait"
    )


def run(arguments: Namespace) -> int:
    """Add, list, check or remove."""
    with open_memory(arguments) as memory:
        if arguments.step == "add":
            url = arguments.url
            place = str(Path(url).expanduser()) if url.startswith("~") else url
            identity = arguments.identity and arguments.identity.expanduser()
            added = add_remote(
                memory,
                arguments.name,
                place,
                drop=arguments.drop,
                role=arguments.role,
                encryption=Encryption(arguments.encrypt, identity),
            )
            text = "{name} is {url}. Sync with 'kimi-memory sync {name}'."
            line = say(text, name=added.name, url=added.url)
            show_result(arguments, added, line)
        elif arguments.step == "remove":
            gone = remove_remote(memory, arguments.name)
            line = say("Removed {name}; what lies at {url} stays.", name=gone.name, url=gone.url)
            show_result(arguments, gone, line)
        elif arguments.step == "check":
            found = check_remote(memory, arguments.name, arguments.timeout)
            line = f"{found.name}  {say(found.status)}  {found.main[:10]}".rstrip()
            show_result(arguments, found, line)
        else:
            _list_remotes(arguments, memory)
    return 0


def _list_remotes(arguments: Namespace, memory: Memory) -> None:
    found, offered = list_remotes(memory), offer_remotes(memory)
    lines = []
    for one in found:
        unsent = say("{count} to send", count=one.unsent)
        sealed = f"  {say('encrypted')}" if one.recipients else ""
        lines.append(
            f"{one.name:<16} {pad(say(one.status), 8)} {pad(unsent, 12)} {one.url}{sealed}"
        )
        if one.failed:
            why = translate(f"{one.failed}.")
            lines.append(f"{'':16} {say('failed: {why}', why=why)}")
    lines = lines or [say("No remotes. Add one with 'kimi-memory remote add NAME URL'.")]
    text = "git knows {url}; to sync with it: kimi-memory remote add {name} {url}"
    lines += [say(text, url=one.url, name=one.name) for one in offered]
    show_result(arguments, {"remotes": found, "offered": offered}, lines)
