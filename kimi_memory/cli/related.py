"""The part of ``get`` that shows what a note is linked with."""

from __future__ import annotations

from argparse import Namespace

from kimi_memory.cli.listed import find_named
from kimi_memory.cli.shared import open_memory, show, show_json
from kimi_memory.operations.links import Neighbour, related


def show_related(arguments: Namespace) -> int:
    """Print the notes and sessions near a note, strongest first."""
    with open_memory(arguments) as memory:
        found = related(memory, find_named(memory, arguments.what), arguments.hops)
    if arguments.json:
        show_json(found)
        return 0
    for one in found:
        show(_format_neighbour(one))
    if not found:
        show("Nothing is linked with it.")
    return 0


def _format_neighbour(one: Neighbour) -> str:
    parts = [f"{one.weight:.2f}", f"{one.rel:<17}", one.id]
    parts += [f"“{one.title}”"] if one.title else []
    parts += [f"via {one.via}"] if one.hops > 1 else []
    parts += [f"({one.reason})"] if one.reason else []
    return "  ".join(parts)
