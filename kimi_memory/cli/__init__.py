"""The command line: one file a command, lazily imported."""

from __future__ import annotations

import importlib
import keyword
import sys
from argparse import OPTIONAL, PARSER, SUPPRESS, ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kimi_memory import __version__
from kimi_memory.api.options import Home, user_host
from kimi_memory.domain.command import Command
from kimi_memory.errors import DiskError, KimiMemoryError
from kimi_memory.nlp.basic.safe_text import printable

COMMANDS: dict[str, str] = {
    "init": "make a memory in a folder",
    "session": "start a session, add turns, end it",
    "remember": "keep one statement at once",
    "ingest": "store transcripts of other programs, each turn once",
    "import": "import the memories of another system, and update them later",
    "recall": "find the lines that answer a question",
    "get": "show a note, or lines of a file",
    "context": "print a block of memory for a prompt",
    "distill": "turn ended sessions into events and cards",
    "consolidate": "run the daily or weekly job, or introspect",
    "link": "link two notes, remove a link, list what is suggested",
    "review": "show what waits for your word; accept, edit or reject it",
    "project": "list projects, finish one, take one up again",
    "conflicts": "list contradictions, and settle them",
    "forget": "archive notes and keep them from coming back",
    "purge": "destroy a text or a session everywhere, with proof",
    "trace": "show where a note comes from",
    "log": "show the history",
    "diff": "show what changed between two points in the history",
    "blame": "show since when a line or a field says so, by which job, from which turns",
    "bisect": "find the version from which on a note says something",
    "timeline": "show every state of a note or a key, and why it changed",
    "versions": "list the versions of the memory",
    "name": "give a version a name, to come back to",
    "merge": "bring a branch or another copy of this memory into it",
    "branch": "make, list, compare or remove working copies of this memory",
    "sync": "merge what other copies sent to a remote, and send what is here",
    "remote": "add, list, check or remove the places this memory is synced with",
    "trust": "say whose SSH keys you know, and what their signatures are worth",
    "attest": "sign what the memory holds at a point, or check such a statement",
    "fork": "make a memory of its own of what this one knows",
    "migrate": "move the memory to another place, and check it there",
    "pick": "take one change, or what is said of one thing, from another copy",
    "undo": "take a job back, byte for byte",
    "rollback": "bring back what was known at an earlier point",
    "index": "bring the indexes up to date, or rebuild them",
    "watch": "keep the index up to date while somebody edits the files",
    "verify": "check journal, notes, quotes and indexes",
    "status": "show what is in the memory",
    "doctor": "look for faults, and mend them",
    "backup": "write the memory and its history into one archive, and check it",
    "hook": "answer agent programs, and put the hooks into their settings",
    "mcp": "serve agent programs over the Model Context Protocol",
    "serve": "serve programs in any language over HTTP",
    "proxy": "pass chats on to a model, and add memory to them",
    "git": "merge generated pages when git merges two copies",
    "plugins": "list plugins: loaded, from where, skipped and why",
}
"""Every built-in command and what it does."""
_OVERVIEWS = ("", "-h", "--help", "--version")
"""First words that want no command: its name and what it does are enough."""
ALIASES = {"search": "recall", "distil": "distill", "dream": "consolidate introspect"}


class Parser(ArgumentParser):
    """A parser that takes what every command takes; so do the steps below it, of the same class."""

    def __init__(self, **options: Any) -> None:  # argparse's own arguments
        super().__init__(**options)
        # What an outer parser has read must stand: an inner one has no default of its own.
        shared = self.add_argument_group("every command", argument_default=SUPPRESS)
        shared.add_argument("--json", action="store_true", help="print JSON for programs")
        shared.add_argument(
            "--memory",
            type=Path,
            metavar="PATH",
            help="the memory folder; else KIMI_MEMORY, else the nearest one above",
        )
        self._is_mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Read arguments; those that may be left out may stand behind options, too.

        argparse gives an optional argument its default as soon as an option follows the
        argument before it; ``turn ID --role user TEXT`` would end in an error.
        """
        steps = any(action.nargs == PARSER for action in self._actions)
        if (
            steps
            or self._is_mixing
            or not any(action.nargs == OPTIONAL for action in self._actions)
        ):
            return super().parse_known_args(args, namespace)
        self._is_mixing = True  # It asks for this method again, for options and for the rest.
        try:
            return super().parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False


def parser(only: str = "", *, overview: bool = False) -> ArgumentParser:
    """Return the parser of the command line.

    Args:
        only: a command whose arguments are all that is needed; all if none has that name.
        overview: whether names will do; else the module of each command is imported.
    """
    top = Parser(
        prog="kimi-memory",
        description="Git for beliefs: an agent's memory as a folder of Markdown you own.",
    )
    version = f"kimi-memory {__version__}"
    top.add_argument("--version", action="version", version=version)
    top.set_defaults(json=False, memory=None)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    if only in COMMANDS:
        _add_command(commands, _import_command(only, COMMANDS[only]))
        return top
    from_plugins = _from_plugins()
    if named := [command for command in from_plugins if command.name == only]:
        _add_command(commands, named[0])
        return top
    for name, help in COMMANDS.items():
        if overview:
            commands.add_parser(name, help=help)
        else:
            _add_command(commands, _import_command(name, help))
    for command in from_plugins:
        _add_command(commands, command)
    return top


def _import_command(name: str, help: str) -> Command:
    """Return a built-in command; its module is imported now."""
    # A word of Python cannot name a module.
    stem = f"{name}_" if keyword.iskeyword(name) else name
    module = importlib.import_module(f"kimi_memory.cli.{stem}")
    return Command(name, help, module.add_arguments, module.run)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    words = list(arguments)
    if words and words[0] in ALIASES:
        words[:1] = ALIASES[words[0]].split()
    first = words[0] if words else ""
    try:
        chosen = parser(first, overview=first in _OVERVIEWS).parse_args(words)
        return int(chosen.run(chosen))
    except KimiMemoryError as error:
        print(f"kimi-memory: {printable(str(error))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe went away (head, less): not our failure.
        sys.stderr.close()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        why = error.strerror or type(error).__name__
        print(f"kimi-memory: {printable(f'{where}{why}')}. Look at that place.", file=sys.stderr)
        return DiskError.exit_code
    except KeyboardInterrupt:
        print("kimi-memory: interrupted; nothing half-written was kept.", file=sys.stderr)
        return 130


def _add_command(commands, command: Command) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  argparse's own class is private
    sub = commands.add_parser(
        command.name, help=command.help, description=_format_sentence(command.help)
    )
    command.add_arguments(sub)
    sub.set_defaults(run=command.run)


def _format_sentence(help: str) -> str:
    return f"{help[0].upper()}{help[1:]}."


def _from_plugins() -> list[Command]:
    gathered = user_host(Home.of_user()).gather("register_commands")
    return [command for found in gathered for command in found]
