"""The command ``compact``: a running chat made to fit its model again.

Why it exists: a chat that outgrows its window is cut by its host; here nothing of it is lost.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace

from kimi_memory import hookimpl
from kimi_memory.cli.shared import open_memory, parse_json, show_note
from kimi_memory.domain.command import Command
from kimi_memory.errors import UsageError
from kimi_memory.formats.json_values import plain

from .chat import Limits, Message
from .compact_chat import Compaction, compact, flush, window

__all__ = ["Compaction", "Limits", "compact", "flush", "register_commands", "window"]

_EXAMPLE = 'a list of messages such as [{"role": "user", "content": "…"}]'


@hookimpl
def register_commands() -> list[Command]:
    """Add ``compact``."""
    help = "shorten a running chat to fit its model; every turn is stored"
    return [Command("compact", help, _add_arguments, _run)]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--window", type=int, default=128_000, help="context window of the model, in tokens"
    )
    parser.add_argument(
        "--share", type=float, default=0.6, help="part of the window a chat may take"
    )
    parser.add_argument("--keep", type=int, default=5, help="latest messages that stay as they are")
    parser.add_argument("--session", default="", help="session that holds the chat")
    parser.add_argument("--force", action="store_true", help="compact a chat that fits, too")
    parser.add_argument(
        "--resume", action="store_true", help="print the history of --session; reads no input"
    )


def _run(arguments: Namespace) -> int:
    """Read a JSON list of messages from standard input, print the list to go on with."""
    limits = Limits(arguments.window, arguments.share, arguments.keep)
    if arguments.resume:
        if not arguments.session:
            raise UsageError("--resume needs --session. Name the session to go on with.")
        with open_memory(arguments) as memory:
            history = window(memory, arguments.session, limits.budget, keep=limits.keep)
        _print_json(history)
        return 0
    messages = _parse_messages(sys.stdin.read())
    with open_memory(arguments) as memory:
        done = compact(memory, messages, limits, session=arguments.session, force=arguments.force)
    _print_json(plain(done) if arguments.json else list(done.messages))
    show_note(_describe_result(done))
    return 0


def _parse_messages(text: str) -> list[Message]:
    value = parse_json(text, "Standard input", _EXAMPLE)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UsageError(f"Standard input is not a list of messages. Give {_EXAMPLE}.")
    return value


def _print_json(value: object) -> None:
    # Not made visible as other texts are: the next program reads it as it is.
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _describe_result(done: Compaction) -> str:
    if not done.dropped:
        return f"kimi-memory: {done.before} tokens fit; nothing was changed."
    return (
        f"kimi-memory: {done.before} tokens became {done.after}; {done.dropped} messages are "
        f"kept whole in session {done.session}."
    )
