"""The commands ``agent``, ``exec``, ``fleet``, ``place`` and ``usage``.

Why it exists: who runs agents wants their words kept, also where one is killed.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from importlib import import_module

from kimi_memory import hookimpl
from kimi_memory.domain.command import Command

_COMMANDS = {
    "agent": "run an agent with this memory, list, show and stop runs",
    "exec": "carry out on this machine what grants allow, in a sandbox",
    "fleet": "run one job in many memories, on workers of this machine or of Ray",
    "usage": "sum up what jobs, models and runs used, by day, model, agent and more",
    "place": "say which machine of a cluster a task would run on, and why",
}


@hookimpl
def register_commands() -> list[Command]:
    """Add the commands; what they need is imported when one of them is used."""
    return [
        Command(name, help, partial(_add_arguments, name), partial(_run, name), "give it to agents")
        for name, help in _COMMANDS.items()
    ]


def _add_arguments(name: str, parser: ArgumentParser) -> None:
    import_module(f"{__name__}.{name}_command").add_arguments(parser)


def _run(name: str, arguments: Namespace) -> int:
    return int(import_module(f"{__name__}.{name}_command").run(arguments))
