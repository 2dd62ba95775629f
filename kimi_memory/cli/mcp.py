"""``mcp``: serve a memory to agent programs over the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from kimi_memory.cli.namespace import add_space, space_of
from kimi_memory.cli.shared import find_memory, follow_code
from kimi_memory.domain.ids import read_run
from kimi_memory.errors import UsageError
from kimi_memory.mcp.server import serve

LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRAPH = "server-memory"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--http", action="store_true", help="over HTTP instead of standard input")
    parser.add_argument("--host", default="127.0.0.1", help="address, of this machine only")
    parser.add_argument("--port", type=int, default=8377, help="port; default: 8377")
    add_space(parser, "the client")
    parser.add_argument("--member", default="", help="the member of a space that the client is")
    parser.add_argument(
        "--compat",
        choices=[GRAPH],
        help=f"offer the nine tools of the MCP project's {GRAPH} instead of ours",
    )


def run(arguments: Namespace) -> int:
    """Serve until the client goes."""
    if sys.stdin.isatty() and not arguments.http:
        # It would wait for messages that nobody types.
        raise UsageError("An agent program starts 'mcp' and talks to it: see docs/agents.md.")
    # MCP over HTTP knows no tokens here. Who wants remote access uses 'serve', which has them.
    if arguments.host not in LOOPBACK:
        raise UsageError(
            f"{arguments.host} can be reached from outside, and this server has no tokens. "
            "Use 127.0.0.1, or 'kimi-memory serve' with a token."
        )

    serve(
        follow_code(find_memory(arguments)).resolve(),
        http=(arguments.host, arguments.port) if arguments.http else None,
        graph=arguments.compat == GRAPH,
        space=space_of(arguments),
        member=arguments.member,
        run=read_run(os.environ),
    )
    return 0
