"""Compaction of a running chat, and the command ``compact``.

Why it exists: a chat that outgrows its window is cut by its host; here nothing of it is lost.

Settings, in the user's own ``config.toml``::

    [plugins.compaction]
    window_tokens = 128000   # context window of the model
    share = 0.6              # part of it from which on, and to which, a chat is compacted
    keep = 5                 # latest messages that stay as they are
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kimi_memory import Memory, hookimpl
from kimi_memory.cli.shared import open_memory, parse_json, show_note
from kimi_memory.domain.command import Command
from kimi_memory.domain.compaction import Compaction, Flushed, Limits, Message, Spoken
from kimi_memory.errors import PluginError, UsageError
from kimi_memory.formats.json_values import plain

from .chat import cost_of, session_of
from .compact_chat import compact, flush, window

_EXAMPLE = 'a list of messages such as [{"role": "user", "content": "…"}]'

SETTINGS = ("window_tokens", "share", "keep")
"""What may stand in ``[plugins.compaction]``."""


def create(settings: Mapping[str, Any]) -> CompactionPlugin:
    """Make the plugin with the limits that the user chose.

    Raises:
        PluginError: a limit is no number, or out of its range.
    """
    chosen = {name: settings[name] for name in SETTINGS if name in settings}
    for name, value in chosen.items():
        wanted = "a number above 0, up to 1" if name == "share" else "a whole number above 0"
        kinds = (int, float) if name == "share" else (int,)
        right = isinstance(value, kinds) and not isinstance(value, bool) and value > 0
        if not right or (name == "share" and value > 1):
            raise PluginError(
                f"config.toml: [plugins.compaction] {name} is {value!r}. Give {wanted}."
            )
    return CompactionPlugin(Limits(**chosen))


@dataclass(frozen=True, slots=True)
class ChatCompactor:
    """Compacts the chats of one memory."""

    memory: Memory
    limits: Limits

    def compact(
        self,
        messages: Sequence[Message],
        limits: Limits,
        session: str,
        *,
        force: bool,
        spoken: Sequence[Spoken] | None = None,
        **whose: str,
    ) -> Compaction:
        """Make a chat fit again; see `Memory.compact`."""
        return compact(
            self.memory, messages, limits, session=session, force=force, spoken=spoken, **whose
        )

    def flush(self, messages: Sequence[Message], session: str, **whose: str) -> Flushed:
        """Store what of a chat is not stored yet; see `Memory.flush`."""
        return flush(self.memory, messages, session, **whose)

    def window(self, session: str, budget_tokens: int, keep: int) -> list[Message]:
        """Return the history to resume a session with; see `Memory.window`."""
        return window(self.memory, session, budget_tokens, keep=keep)

    def cost_of(self, messages: Sequence[Message]) -> int:
        """Return about how many tokens messages cost."""
        return cost_of(messages)

    def session_of(self, messages: Sequence[Message], **whose: str) -> str:
        """Return the id of the session that holds a chat, which names none itself."""
        return session_of(messages, self.memory.screen.mask, **whose)


@dataclass(frozen=True, slots=True)
class CompactionPlugin:
    """The plugin with the user's limits."""

    limits: Limits = field(default_factory=Limits)

    @hookimpl(trylast=True)
    def open_compactor(self, memory: Memory) -> ChatCompactor:
        """Return the compactor of a memory."""
        return ChatCompactor(memory, self.limits)

    @hookimpl
    def register_commands(self) -> list[Command]:
        """Add ``compact``."""
        help = "shorten a running chat to fit its model; every turn is stored"
        return [Command("compact", help, self._add_arguments, _run, "ask")]

    def _add_arguments(self, parser: ArgumentParser) -> None:
        limits = self.limits
        parser.add_argument(
            "--window", type=int, default=limits.window_tokens, metavar="TOKENS",
            help=f"context window of the model; default: {limits.window_tokens}",
        )  # fmt: skip
        parser.add_argument(
            "--share", type=float, default=limits.share,
            help=f"part of the window a chat may take; default: {limits.share:g}",
        )  # fmt: skip
        parser.add_argument(
            "--keep", type=int, default=limits.keep, metavar="N",
            help=f"latest messages that stay as they are; default: {limits.keep}",
        )  # fmt: skip
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
            history = memory.window(arguments.session, limits.budget, keep=limits.keep)
        _print_json(history)
        return 0
    messages = _parse_messages(sys.stdin.read())
    with open_memory(arguments) as memory:
        done = memory.compact(messages, limits, session=arguments.session, force=arguments.force)
    _print_json(plain(done) if arguments.json else list(done.messages))
    show_note(_describe_result(done, limits.budget))
    return 0


def _parse_messages(text: str) -> list[Message]:
    value = parse_json(text, "Standard input", _EXAMPLE)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise UsageError(f"Standard input is not a list of messages. Give {_EXAMPLE}.")
    return value


def _print_json(value: object) -> None:
    # Not made visible as other texts are: the next program reads it as it is. Escapes can spell
    # half a character, which is no text: such a chat goes out as it came in.
    text = json.dumps(value, ensure_ascii=False, indent=2)
    halves = any("\ud800" <= char <= "\udfff" for char in text)
    sys.stdout.write((json.dumps(value, indent=2) if halves else text) + "\n")


def _describe_result(done: Compaction, budget: int) -> str:
    if not done.dropped and done.before > budget:
        return (
            f"kimi-memory: {done.before} tokens are more than {budget}, but the last messages "
            "stay. Give a smaller --keep or a larger --window."
        )
    if not done.dropped:
        return f"kimi-memory: {done.before} tokens fit; nothing was changed."
    return (
        f"kimi-memory: {done.before} tokens became {done.after}; {done.dropped} messages are "
        f"kept whole in session {done.session}."
    )
