"""``status``: show what is in the memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.care.checkup import Status, status
from kimi_memory.surfaces.cli.shared import leave, open_memory, show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments: none of its own."""


def run(arguments: Namespace) -> int:
    """Print counts by tier and type, sessions, jobs, index and history."""
    with open_memory(arguments) as memory:
        found = status(memory)
        leave(memory)
    if arguments.json:
        show_json(found)
    else:
        _show(found)
    return 0


def _show(found: Status) -> None:
    show(f"Memory    {found.root}")
    show(f"Sessions  {found.open_sessions} open, {found.ended_sessions} ended, {found.turns} turns")
    for kind, counts in found.notes.items():
        parts = ", ".join(f"{count} {name}" for name, count in counts.items())
        show(f"{kind.capitalize():<9} {sum(counts.values())} ({parts})")
    show(f"Jobs      {found.jobs}, {found.waiting} sessions wait to be distilled")
    show(f"Index     {found.index}")
    show(f"History   {found.history}")
    if found.external:
        show(f"Edits     {found.external} files were changed outside of kimi-memory")
    for path in found.broken:
        show(f"Broken    {path}")
