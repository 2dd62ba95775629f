"""``status``: show what is in the memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.as_of import add_as_of, open_at
from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import leave, show, show_json
from kimi_memory.operations.health_checks import shown_size
from kimi_memory.operations.memory_state import Status, status

_BAR = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_as_of(parser)


def run(arguments: Namespace) -> int:
    """Print counts by tier and type, sessions, jobs, index and history."""
    with open_at(arguments) as memory:
        # A memory of a hundred thousand files takes seconds, in which a silent terminal looks dead.
        with Progress("files looked at") as progress:
            found = status(memory, progress.set)
        leave(memory)
    if arguments.json:
        show_json(found)
    else:
        _show_status(found, past=bool(arguments.as_of))
    return 0


def _show_status(found: Status, *, past: bool) -> None:
    if past:  # The folder it was laid out in is gone already.
        _show_contents(found)
        return
    show(f"Memory    {found.root}")
    _show_contents(found)
    parts = ", ".join(f"{name} {shown_size(size)}" for name, size in found.sizes.items())
    show(f"Size      {shown_size(sum(found.sizes.values()))} ({parts})")
    show(f"Index     {found.index}")
    show(f"History   {found.history}")
    if found.external:
        show(f"Edits     {found.external} files were changed outside of kimi-memory")
    # Last, where the eye is when the command has ended.
    troubles = {
        "Remote": found.remotes,
        "Waits": found.unconfirmed,
        "Merge": found.merging,
        "Failing": found.failing,
        "Settings": found.unknown,
        "Broken": found.broken,
    }
    for name, lines in troubles.items():
        for line in lines:
            show(f"{name:<9} {line}")


def _show_contents(found: Status) -> None:
    show(f"Sessions  {found.open_sessions} open, {found.ended_sessions} ended, {found.turns} turns")
    for kind, counts in found.notes.items():
        parts = ", ".join(f"{count} {name}" for name, count in counts.items())
        show(f"{kind.capitalize():<9} {sum(counts.values())} ({parts})")
    if found.links:
        parts = ", ".join(f"{count} {rel}" for rel, count in sorted(found.links.items()))
        show(f"Links     {sum(found.links.values())} ({parts})")
    if sum(found.bands.values()):
        _show_temperatures(found)
    show(f"Jobs      {found.jobs}, {found.waiting} sessions wait to be distilled")
    for command, count in found.asks.items():
        show(f"Waiting   {count} for you: kimi-memory {command}")


def _show_temperatures(found: Status) -> None:
    """Print how many cards are in each band, and a bar for each step of temperature."""
    whole = sum(found.bands.values())
    show(f"Warmth    {', '.join(f'{count} {band}' for band, count in found.bands.items())}")
    for step, count in found.temperatures.items():
        bar = "█" * round(_BAR * count / whole)
        show(f"  {step}  {bar:░<{_BAR}} {count / whole:4.0%}")
