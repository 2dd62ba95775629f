"""The command line: one file a command, lazily imported."""

from __future__ import annotations

import builtins
import difflib
import importlib
import json
import keyword
import re
import sys
from argparse import OPTIONAL, PARSER, SUPPRESS, Action, ArgumentParser, HelpFormatter, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

from kimi_memory import __version__
from kimi_memory.api.options import Home, user_host
from kimi_memory.cli.command_table import ALIASES, COMMANDS, LONG
from kimi_memory.cli.overview import format_overview, suggest
from kimi_memory.cli.shared import paged, print_error, say, translate, wrap
from kimi_memory.domain.command import Command
from kimi_memory.errors import DiskError, KimiMemoryError, UsageError
from kimi_memory.nlp.basic.safe_text import printable_line
from kimi_memory.server.errors import body_of

_OVERVIEWS = ("", "-h", "--help", "--version")
"""First words that want no command: its name and what it does are enough."""
_DESCRIPTION = "Git for beliefs: an agent's memory as a folder of Markdown you own."
_MOST_CHOICES = 40
"""Letters of choices that stand in a line of usage."""
_MISSING = "the following arguments are required"
"""What argparse says of them."""
_CHOICE = re.compile(r"invalid choice: '(?P<word>[^']*)' \(choose from (?P<choices>.*)\)")


class _NameMemory(Action):
    """Keeps the folder that was named last, and all of them for who serves several."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Take one more folder."""
        namespace.memory = values
        namespace.memories = [*getattr(namespace, "memories", ()), values]


def _has_long_choices(action: Action) -> bool:
    return (
        action.metavar is None
        and action.choices is not None
        and sum(len(str(one)) + 1 for one in action.choices) > _MOST_CHOICES
    )


class _Formatter(HelpFormatter):
    """Lays help out by columns: hanzi take two, and their lines break between them."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return [line.strip() for line in wrap(" ".join(text.split()), width)]

    def _metavar_formatter(
        self, action: Action, default_metavar: str
    ) -> Callable[[int], tuple[str, ...]]:
        if _has_long_choices(action):
            return lambda size: (default_metavar,) * size
        return super()._metavar_formatter(action, default_metavar)

    def _expand_help(self, action: Action) -> str:
        text = super()._expand_help(action)
        if not _has_long_choices(action):
            return text
        # In the line of usage, where argparse puts them, no line can be broken.
        names = ", ".join(map(str, action.choices or ()))
        return say("{help}; one of {names}", help=text, names=names)


class Parser(ArgumentParser):
    """A parser that takes what every command takes; so do the steps below it, of the same class."""

    def __init__(self, **options: Any) -> None:  # argparse's own arguments
        super().__init__(formatter_class=_Formatter, **options)
        # What an outer parser has read must stand: an inner one has no default of its own.
        shared = self.add_argument_group("every command", argument_default=SUPPRESS)
        shared.add_argument("--json", action="store_true", help="print JSON for programs")
        shared.add_argument(
            "--memory",
            action=_NameMemory,
            type=Path,
            metavar="PATH",
            help="the memory folder; else KIMI_MEMORY, else the nearest one above",
        )
        self._is_mixing = False
        self.overview = ""

    def format_help(self) -> str:
        """Return the help; of the whole program the commands by group, which argparse has not."""
        if self.overview:
            return self.overview
        self._translate()
        # Not in the formatter: argparse cuts as many letters off its usage as its own word has.
        return say("usage: ") + super().format_help().removeprefix("usage: ")

    def _translate(self) -> None:
        """Put what the help says into the reader's language."""
        self.description = _format_sentence(say(self.description or ""))
        for group in self._action_groups:
            group.title = say(group.title or "")
        for action in self._actions:
            action.help = say(action.help) if action.help else action.help
            for step in getattr(action, "_choices_actions", ()):
                step.help = say(step.help)

    def print_help(self, file: Any = None) -> None:
        """Print the help, page by page where it is longer than the terminal is high."""
        with paged():
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError where argparse would print its usage and end the process."""
        steps = next((one for one in self._actions if one.nargs == PARSER), None)
        if steps is not None and message == f"{_MISSING}: {steps.metavar or steps.dest}":
            named = ", ".join(one.dest for one in getattr(steps, "_choices_actions", ()))
            message = f"'{self.prog}' takes one of these words: {named}"
        slip = _CHOICE.search(message)
        if slip is not None:
            choices = re.findall(r"[\w./-]+", slip["choices"])
            near = difflib.get_close_matches(slip["word"], choices, n=1)
            message += f". Did you mean {near[0]!r}?" if near else ""
        end = "" if message.endswith("?") else "."
        raise UsageError(f"{message}{end} See '{self.prog} --help'.")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read arguments; refuse an unknown one with the help of the command it was given to."""
        chosen, rest = self.parse_known_args(args, namespace)
        if rest:
            of = f"{self.prog} {getattr(chosen, 'command', None) or ''}".strip()
            slips = (word.partition("=")[0] for word in rest if word.startswith("--"))
            options = [*_yield_options(self)]
            near = difflib.get_close_matches(next(slips, ""), options, n=1, cutoff=0.7)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            told = f"unrecognized arguments: {' '.join(rest)}."
            raise UsageError(f"{told}{meant} See '{of} --help'.")
        return chosen

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


def _yield_options(parser: ArgumentParser) -> Iterator[str]:
    """Yield the options of a parser and of its commands."""
    for action in parser._actions:
        yield from action.option_strings
        if action.nargs == PARSER and isinstance(action.choices, dict):
            for step in action.choices.values():
                yield from _yield_options(step)


def parser(only: str = "", *, overview: bool = False) -> ArgumentParser:
    """Return the parser of the command line.

    Args:
        only: a command whose arguments are all that is needed; all if it is empty.
        overview: whether names will do; else the module of each command is imported.

    Raises:
        UsageError: there is no such command; the nearest one is named.
    """
    top = Parser(prog="kimi-memory", description=_DESCRIPTION)
    version = f"kimi-memory {__version__}"
    top.add_argument("--version", action="version", version=version)
    top.set_defaults(json=False, memory=None)
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    if only in COMMANDS:
        _add_command(commands, _import_command(only, COMMANDS[only]))
        return top
    from_plugins = {command.name: command for command in _from_plugins()}
    if only in from_plugins:
        _add_command(commands, from_plugins[only])
        return top
    if only and not only.startswith("-"):
        raise UsageError(_refuse_command(only, (*COMMANDS, *from_plugins)))
    if overview:
        for name in (*COMMANDS, *from_plugins):
            commands.add_parser(name)
        top.overview = format_overview([*from_plugins.values()], _DESCRIPTION)
        return top
    for name, help in COMMANDS.items():
        _add_command(commands, _import_command(name, help))
    for command in from_plugins.values():
        _add_command(commands, command)
    return top


def _place_of_command(words: Sequence[str]) -> int:
    """Return the place of the command, behind what every command takes."""
    at = 0
    while at < len(words) and words[at].startswith(("--json", "--memory")):
        at += 2 if words[at] == "--memory" else 1
    return at


def _refuse_command(word: str, names: Sequence[str]) -> str:
    near = suggest(word, names)
    meant = f"Did you mean 'kimi-memory {near}'? " if near else ""
    return f"There is no command {word!r}. {meant}'kimi-memory --help' lists all."


def _import_command(name: str, help: str) -> Command:
    """Return a built-in command; its module is imported now."""
    # A word of Python cannot name a module, and a module named as a builtin would hide it here.
    stem = f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) else name
    module = importlib.import_module(f"kimi_memory.cli.{stem}")
    return Command(name, help, module.add_arguments, module.run)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    words = list(arguments)
    at = _place_of_command(words)
    first = words[at] if at < len(words) else ""
    if first in ALIASES:
        words[at : at + 1] = ALIASES[first].split()
        first = words[at]
    try:
        top = parser(first, overview=first in _OVERVIEWS)
        chosen = top.parse_args(words)
        # Only what asks nothing meanwhile may be shown page by page.
        with paged() if chosen.command in LONG and not chosen.json else nullcontext():
            return int(chosen.run(chosen) if chosen.command else _welcome(chosen, top))
    except KimiMemoryError as error:
        return _report(error, words)
    except BrokenPipeError:
        # The reader of a pipe went away (head, less): not our failure.
        sys.stderr.close()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        why = error.strerror or type(error).__name__
        # Not by its constructor, which says that nothing was changed.
        failed = DiskError.__new__(DiskError)
        Exception.__init__(failed, f"{where}{why}. Look at that place.")
        return _report(failed, words)
    except KeyboardInterrupt:
        print_error(f"kimi-memory: {translate('interrupted; nothing half-written was kept.')}")
        return 130


def _welcome(chosen: Namespace, top: ArgumentParser) -> int:
    """Answer a command line without a command."""
    module = importlib.import_module("kimi_memory.cli.welcome")
    return int(module.welcome(chosen, top))


def _report(error: KimiMemoryError, words: Sequence[str]) -> int:
    """Print an error, with --json also as programs read it, and return its exit code."""
    print_error(f"kimi-memory: {printable_line(translate(str(error)))}")
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        print(json.dumps(body_of(error), ensure_ascii=False, indent=2))
    return error.exit_code


def _add_command(commands, command: Command) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  argparse's own class is private
    sub = commands.add_parser(command.name, help=command.help, description=command.help)
    command.add_arguments(sub)
    sub.set_defaults(run=command.run)


def _format_sentence(help: str) -> str:
    if not help or help.endswith((".", "。")):
        return help
    return f"{help[0].upper()}{help[1:]}{'.' if help.isascii() else '。'}"


def _from_plugins() -> list[Command]:
    gathered = user_host(Home.of_user()).gather("register_commands")
    return [command for found in gathered for command in found]
