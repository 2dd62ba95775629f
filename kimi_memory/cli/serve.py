"""``serve``: serve a memory over HTTP, and say who may ask."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.cli.namespace import add_space, space_of
from kimi_memory.cli.shared import find_memory, show, show_json, show_result
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.space_types import ACTING
from kimi_memory.errors import UsageError
from kimi_memory.server.auth import Names, Tokens, hidden
from kimi_memory.server.principal import Scope
from kimi_memory.server.rate_limit import Limits
from kimi_memory.server.server import Serving
from kimi_memory.spaces.space_folder import find_space_of
from kimi_memory.web.serving import serve

_SCOPES = ("read", "write", "admin", "person")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_server(parser)
    _add_tokens(parser)


def add_server(parser: ArgumentParser) -> None:
    """Declare where a server listens, and for whom."""
    parser.add_argument("--host", default="127.0.0.1", help="address; default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=8378, help="port, 0 for any; default: 8378")
    add_callers(parser, "server")
    parser.add_argument(
        "--below", type=Path, metavar="FOLDER",
        help="serve the memories in that folder as well, each as /m/NAME",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=float, default=500.0, metavar="N",
        help="requests a second for each token, 0 for any; default: 500",
    )  # fmt: skip
    parser.add_argument(
        "--max-body", type=int, default=1024 * 1024, metavar="BYTES",
        help="largest request; default: 1 MiB",
    )  # fmt: skip


def add_callers(parser: ArgumentParser, server: str) -> None:
    """Declare under which names clients call a server, and from which pages."""
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help=f"a name under which clients call this {server}; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL",
        help="a page that may call it from a browser; may be repeated",
    )  # fmt: skip


def _add_tokens(parser: ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="token")
    steps = what.add_parser("token", help="add, list or remove tokens").add_subparsers(
        dest="step", metavar="STEP", required=True
    )
    add = steps.add_parser("add", help="make a token and show it once")
    add.add_argument("name", help="a name for it, such as laptop")
    add.add_argument(
        "--scope", action="append", choices=_SCOPES, help="what it may do; default: read, write"
    )
    add_space(add, "it")
    add.add_argument("--member", default="", help="the member of a space who shows it")
    steps.add_parser("list", help="list tokens, without their secrets")
    remove = steps.add_parser("remove", help="take a token back at once")
    remove.add_argument("id", help="its id or name")


def run(arguments: Namespace) -> int:
    """Serve until asked to end, or change who may ask."""
    if arguments.what == "token":
        step = {"add": _create_token, "list": _list_tokens, "remove": _remove_token}
        return step[arguments.step](arguments)

    def ready(url: str, guarded: bool) -> None:
        who = "a token is needed" if guarded else "this machine only, without a token"
        show(f"{url}  ({who}; {url}/openapi.json says what can be asked)")
        show(f"{url}/ui/  (for a browser; 'kimi-memory ui' opens it)")
        # A program that started us reads these lines to learn the port.
        sys.stdout.flush()

    serve(serving_of(arguments), ready)
    return 0


def serving_of(arguments: Namespace) -> Serving:
    """Return how a memory is to be served.

    Raises:
        UsageError: a number is out of range, or ``--below`` names no folder.
    """
    if not 0 <= arguments.port <= 65535 or arguments.max_body < 1 or arguments.rate < 0:
        raise UsageError("--port, --max-body or --rate is out of range.")
    below = arguments.below.expanduser().resolve() if arguments.below else None
    if below and not below.is_dir():
        raise UsageError(f"--below {below} is no folder. Name the one that the memories are in.")
    return Serving(
        root=find_memory(arguments).resolve(),
        home=Home.of_user(),
        names=names_of(arguments),
        port=arguments.port,
        below=below,
        limits=Limits(body_bytes=arguments.max_body, per_second=arguments.rate),
    )


def names_of(arguments: Namespace) -> Names:
    """Return the names that a server goes by."""
    return Names(
        # A name may lead to several addresses; the server listens on one.
        bound="127.0.0.1" if arguments.host == "localhost" else arguments.host,
        hosts=tuple(arguments.allow_host),
        origins=tuple(arguments.allow_origin),
    )


def _open_tokens(arguments: Namespace) -> Tokens:
    home = Home.of_user()
    with Memory.open(find_memory(arguments), Opening(home=home, background=False)) as memory:
        if member := getattr(arguments, "member", ""):
            _check_member(memory, member)
        return Tokens(home, memory.root, memory.settings.memory.id)


def _check_member(memory: Memory, member: str) -> None:
    """Refuse a token for somebody whom the server would refuse."""
    space = find_space_of(memory.home, memory.settings.memory.id, memory.root)
    if space is None:
        raise UsageError(
            "This memory belongs to no space. Share it with 'kimi-memory space share' first."
        )
    if space.member(member).kind not in ACTING:
        raise UsageError(f"{member} is a {space.member(member).kind}, which asks for nothing.")


def _create_token(arguments: Namespace) -> int:
    # Admin has to be asked for: it can forget whole sessions and take jobs back.
    scopes = [Scope(one) for one in arguments.scope or ("read", "write")]
    space = space_of(arguments)
    token, secret = _open_tokens(arguments).add(
        arguments.name, scopes, space, utcnow(), member=arguments.member
    )
    if arguments.json:
        show_json({"token": hidden(token), "secret": secret})
    else:
        # On standard output alone, so that a script can keep it without cutting it out of words.
        show(secret)
        print("Keep it: it is shown this once, and stored nowhere.", file=sys.stderr)
    return 0


def _list_tokens(arguments: Namespace) -> int:
    found, lines = _open_tokens(arguments).all(), []
    for token in found:
        parts = ("project", "agent", "user", "session", "member")
        bound = [f"{part} {name}" for part in parts if (name := getattr(token, part))]
        bound += ["shared"] if token.shared else []
        row = f"{token.id}  {token.name}  {', '.join(token.scopes)}  {' '.join(bound)}"
        lines.append(row.rstrip())
    none = ["No tokens. Without one, only this machine is served."]
    return show_result(arguments, [hidden(token) for token in found], lines or none)


def _remove_token(arguments: Namespace) -> int:
    token = _open_tokens(arguments).remove(arguments.id)
    return show_result(
        arguments,
        {"removed": token.id},
        f"Removed {token.id}, {token.name}. A running server refuses it from now on.",
    )
