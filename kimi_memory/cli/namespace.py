"""What a command binds a client to: arguments of ``mcp`` and ``serve token add``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.domain.ids import safe_session_id
from kimi_memory.errors import UsageError
from kimi_memory.server.principal import Namespace as Space


def add_space(parser: ArgumentParser, whom: str) -> None:
    """Declare the arguments that bind a client; `whom` is what the help calls it."""
    for name, article in (("project", "a"), ("agent", "an"), ("user", "a"), ("session", "a")):
        parser.add_argument(f"--{name}", default="", help=f"bind {whom} to {article} {name}")
    parser.add_argument(
        "--shared", action="store_true", help="beside its own it sees what is shared"
    )


def space_of(arguments: Namespace) -> Space:
    """Return what a client is bound to.

    Raises:
        UsageError: it is to see what is shared and has nothing of its own.
    """
    if arguments.shared and not (arguments.agent or arguments.user):
        raise UsageError("--shared goes with --agent or --user: without, nothing is its own.")
    # As the store names it, or the binding would fit no session at all.
    session = safe_session_id(arguments.session) if arguments.session else ""
    return Space(
        arguments.project, arguments.agent, arguments.user, session, shared=arguments.shared
    )
