"""``status``: show what is in the memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.filter_options import add_as_of, open_at
from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import leave, looks_back, pad, say, show, show_json, translate
from kimi_memory.operations.health_checks import shown_size
from kimi_memory.operations.memory_state import Status, status

_BAR, _NAME = 20, 9
_MOST = 10
"""So many lines of one trouble are shown: of a large copy every file may wait."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_as_of(parser, held=True)


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
        _show_status(found, past=looks_back(arguments))
    return 0


def _show_status(found: Status, *, past: bool) -> None:
    if past:  # The folder it was laid out in is gone already.
        _show_contents(found)
        return
    _show("Memory", str(found.root))
    _show_contents(found)
    parts = ", ".join(f"{say(name)} {shown_size(size)}" for name, size in found.sizes.items())
    _show("Size", f"{shown_size(sum(found.sizes.values()))} ({parts})")
    _show("Index", translate(found.index))
    _show("History", found.history)
    if found.external:
        edits = "{count} files were changed outside of kimi-memory"
        _show("Edits", say(edits, count=found.external))
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
        for line in lines[:_MOST]:
            _show(name, translate(line))
        if len(lines) > _MOST:
            _show(name, say("… and {count} more", count=len(lines) - _MOST))


def _show(name: str, text: str) -> None:
    """Print what belongs to a name, in a column of its own."""
    show(f"{pad(say(name), _NAME)} {text}")


def _show_contents(found: Status) -> None:
    counts = {"open": found.open_sessions, "ended": found.ended_sessions, "turns": found.turns}
    _show("Sessions", say("{open} open, {ended} ended, {turns} turns", **counts))
    for kind, held in found.notes.items():
        parts = ", ".join(f"{count} {say(name)}" for name, count in held.items())
        _show(kind.capitalize(), f"{sum(held.values())} ({parts})")
    if found.links:
        parts = ", ".join(f"{count} {say(rel)}" for rel, count in sorted(found.links.items()))
        _show("Links", f"{sum(found.links.values())} ({parts})")
    if sum(found.bands.values()):
        _show_temperatures(found)
    waiting = "{count}, {waiting} sessions wait to be distilled"
    _show("Jobs", say(waiting, count=found.jobs, waiting=found.waiting))
    for command, count in found.asks.items():
        asks = "{count} for you: kimi-memory {command}"
        _show("Waiting", say(asks, count=count, command=command))


def _show_temperatures(found: Status) -> None:
    """Print how many cards are in each band, and a bar for each step of temperature."""
    whole = sum(found.bands.values())
    _show("Warmth", ", ".join(f"{count} {say(band)}" for band, count in found.bands.items()))
    if sum(map(bool, found.temperatures.values())) < 2:
        return  # One full bar among empty ones tells no more than the line above.
    for step, count in found.temperatures.items():
        bar = "█" * round(_BAR * count / whole)
        show(f"  {step}  {bar:░<{_BAR}} {count / whole:4.0%}")
