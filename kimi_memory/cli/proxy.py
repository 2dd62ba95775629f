"""``proxy``: stand between a chat program and its model server, and remember."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from kimi_memory.api.options import Home
from kimi_memory.cli.serve import add_callers, names_of
from kimi_memory.cli.shared import find_memory, show
from kimi_memory.errors import UsageError
from kimi_memory.proxy.memory_bridge import Budgets
from kimi_memory.proxy.server import Standing, proxy
from kimi_memory.server.principal import Namespace as Space
from kimi_memory.server.server import Serving


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--upstream", required=True, metavar="URL",
        help="the model server, such as http://127.0.0.1:11434 or https://api.openai.com/v1",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", help="address; default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=8379, help="port, 0 for any; default: 8379")
    parser.add_argument("--project", default="", help="project of chats that name none")
    parser.add_argument("--agent", default="", help="agent of chats that name none")
    parser.add_argument(
        "--start-tokens", type=int, default=1000, metavar="N",
        help="most tokens shown before a conversation, 0 for nothing; default: 1000",
    )  # fmt: skip
    parser.add_argument(
        "--prompt-tokens", type=int, default=600, metavar="N",
        help="most tokens shown beside a message, 0 for nothing; default: 600",
    )  # fmt: skip
    parser.add_argument(
        "--window", type=int, default=0, metavar="TOKENS",
        help="context window of the model: longer chats are compacted; default: 0, never",
    )  # fmt: skip
    add_callers(parser, "proxy")


def run(arguments: Namespace) -> int:
    """Stand there until asked to end."""
    counts = (arguments.start_tokens, arguments.prompt_tokens, arguments.window)
    if not 0 <= arguments.port <= 65535 or min(counts) < 0:
        raise UsageError("--port, --start-tokens, --prompt-tokens or --window is out of range.")

    root, home = find_memory(arguments).resolve(), Home.of_user()
    standing = Standing(
        serving=Serving(root=root, home=home, names=names_of(arguments), port=arguments.port),
        upstream=arguments.upstream,
        budgets=Budgets(
            start_tokens=arguments.start_tokens,
            prompt_tokens=arguments.prompt_tokens,
            window_tokens=arguments.window,
        ),
        space=Space(arguments.project, arguments.agent),
    )

    def ready(url: str, guarded: bool) -> None:
        who = "a token is needed" if guarded else "this machine only, without a token"
        show(f"{url}  ({who}; stands before {arguments.upstream})")
        # A program that started us reads this line to learn the port.
        sys.stdout.flush()

    proxy(standing, ready)
    return 0
