"""``compact``: make a running chat fit its model again."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from kimi_memory.cli.shared import open_memory, plain
from kimi_memory.errors import UsageError
from kimi_memory.operations.chat import Limits
from kimi_memory.operations.compact_chat import compact, window

if TYPE_CHECKING:
    from kimi_memory.operations.chat import Message
    from kimi_memory.operations.compact_chat import Compaction


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
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


def run(arguments: Namespace) -> int:
    """Read a JSON list of messages from standard input, print the list to go on with."""
    limits = Limits(arguments.window, arguments.share, arguments.keep)
    if arguments.resume:
        if not arguments.session:
            raise UsageError("--resume needs --session. Name the session to go on with.")
        with open_memory(arguments) as memory:
            history = window(memory, arguments.session, limits.budget, keep=limits.keep)
        _print(history)
        return 0
    messages = _messages(sys.stdin.read())
    with open_memory(arguments) as memory:
        done = compact(memory, messages, limits, session=arguments.session, force=arguments.force)
    _print(_object(done) if arguments.json else list(done.messages))
    print(_told(done), file=sys.stderr)
    return 0


def _messages(text: str) -> list[Message]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Not JSON: {error}. Give a list of messages.") from error
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UsageError('Not a list of messages. Give [{"role": …, "content": …}, …].')
    return value


def _object(done: Compaction) -> object:
    return plain(done)


def _print(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _told(done: Compaction) -> str:
    if not done.dropped:
        return f"kimi-memory: {done.before} tokens fit; nothing was changed."
    return (
        f"kimi-memory: {done.before} tokens became {done.after}; {done.dropped} messages are "
        f"kept whole in session {done.session}."
    )
