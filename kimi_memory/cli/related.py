"""The part of ``get`` that shows what a note is linked with."""

from __future__ import annotations

from argparse import Namespace

from kimi_memory.cli.filter_options import find_named
from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.operations.links import Neighbour, related


def show_related(arguments: Namespace) -> int:
    """Print the notes and sessions near a note, strongest first."""
    with open_memory(arguments) as memory:
        found = related(memory, find_named(memory, arguments.what), arguments.hops)
    lines = [_format_neighbour(one) for one in found] or ["Nothing is linked with it."]
    return show_result(arguments, found, lines)


def _format_neighbour(one: Neighbour) -> str:
    parts = [f"{one.weight:.2f}", f"{one.rel:<17}", one.id]
    parts += [f"“{one.title}”"] if one.title else []
    parts += [f"via {one.via}"] if one.hops > 1 else []
    parts += [f"({one.reason})"] if one.reason else []
    return "  ".join(parts)
