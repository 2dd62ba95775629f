"""``remote``: add, list, check or remove the places this memory is synced with."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import open_memory, show_result
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
            added = add_remote(
                memory, arguments.name, place, drop=arguments.drop, role=arguments.role
            )
            line = f"{added.name} is {added.url}. Sync with 'kimi-memory sync {added.name}'."
            show_result(arguments, added, line)
        elif arguments.step == "remove":
            gone = remove_remote(memory, arguments.name)
            show_result(arguments, gone, f"Removed {gone.name}; what lies at {gone.url} stays.")
        elif arguments.step == "check":
            found = check_remote(memory, arguments.name, arguments.timeout)
            show_result(
                arguments, found, f"{found.name}  {found.status}  {found.main[:10]}".rstrip()
            )
        else:
            _list_remotes(arguments, memory)
    return 0


def _list_remotes(arguments: Namespace, memory: Memory) -> None:
    found, offered = list_remotes(memory), offer_remotes(memory)
    lines = []
    for one in found:
        lines.append(f"{one.name:<16} {one.status:<8} {f'{one.unsent} to send':<12} {one.url}")
        lines += [f"{'':16} failed: {one.failed}"] if one.failed else []
    lines = lines or ["No remotes. Add one with 'kimi-memory remote add NAME URL'."]
    lines += [
        f"git knows {one.url}; to sync with it: kimi-memory remote add {one.name} {one.url}"
        for one in offered
    ]
    show_result(arguments, {"remotes": found, "offered": offered}, lines)
