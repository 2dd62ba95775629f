"""What ``kimi-memory`` says of itself: commands by group, what was meant, what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kimi_memory.cli.command_table import ALIASES, EXAMPLES, GROUPS, MEANT, OTHERS
from kimi_memory.cli.shared import find_width, say, wrap
from kimi_memory.domain.command import Command

_LIKE = 0.6
"""Words less alike than this are not taken for a slip."""


def format_overview(commands: Sequence[Command], description: str) -> str:
    """Return the help of the whole program: commands by group, examples, where there is more.

    Args:
        commands: those of plugins.
        description: what the program is.
    """
    groups = {title: dict(group) for title, group in GROUPS.items()}
    for command in commands:
        groups.setdefault(command.group or OTHERS, {})[command.name] = command.help
    widest = max(len(name) for group in groups.values() for name in group)
    usage = "usage: kimi-memory COMMAND [arguments] [--memory PATH] [--json]"
    lines = [say(description), "", say(usage)]
    for title, group in ((title, group) for title, group in groups.items() if group):
        lines += ["", say(title).capitalize()]
        for name, help in group.items():
            lines += _format_command(name, say(help), widest)
    lines += ["", say("Examples"), *(f"  kimi-memory {example}" for example in EXAMPLES)]
    lines += ["", say("'kimi-memory COMMAND --help' has the arguments; 'kmem' is short for it.")]
    lines += [say("The memory is the folder above this one, KIMI_MEMORY, or --memory PATH.")]
    return "\n".join(lines) + "\n"


def _format_command(name: str, help: str, widest: int) -> Iterator[str]:
    """Yield the lines of a command; what goes on stands below its help."""
    width = find_width()
    for number, part in enumerate(wrap(help, width and width - widest - 4)):
        yield f"  {'' if number else name:<{widest}}  {part.strip()}"


def suggest(word: str, names: Iterable[str]) -> str:
    """Return the command that an unknown word resembles; empty where none is near."""
    if word in MEANT:
        return MEANT[word]
    known = [*names, *ALIASES, *MEANT]
    near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=_LIKE)
    return MEANT.get(near[0], near[0]) if near else ""


def format_next(asks: Mapping[str, int], held: int) -> Iterator[str]:
    """Yield what to do next, most pressing first: at most three lines."""
    steps = [
        (f"kimi-memory {command}", say("{count} wait for your word", count=count))
        for command, count in asks.items()
    ]
    if not held:
        steps += [
            ('kimi-memory remember "…"', "keep one statement"),
            ("kimi-memory ingest FILE", "store conversations you have already"),
            ("kimi-memory hook install", "let your agent programs store theirs"),
        ]
    steps += [
        ('kimi-memory recall "…"', "ask it something"),
        ("kimi-memory status", "all that is in it"),
        ("kimi-memory --help", "all commands"),
    ]
    chosen = steps[:2] + steps[-1:] if held else steps[:3]
    widest = max(len(command) for command, _ in chosen)
    for command, why in chosen:
        yield f"  {command:<{widest}}  {say(why)}"
