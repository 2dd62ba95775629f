"""``status``: show what is in the memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.filter_options import add_as_of, open_at
from kimi_memory.cli.progress import Progress
from kimi_memory.cli.shared import leave, looks_back, pad, say, show_result, translate
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
    return show_result(arguments, found, _format_status(found, past=looks_back(arguments)))


def _format_status(found: Status, *, past: bool) -> Iterator[str]:
    if past:  # The folder it was laid out in is gone already.
        yield from _format_contents(found)
        return
    yield _format_row("Memory", str(found.root))
    yield from _format_contents(found)
    parts = ", ".join(f"{say(name)} {shown_size(size)}" for name, size in found.sizes.items())
    yield _format_row("Size", f"{shown_size(sum(found.sizes.values()))} ({parts})")
    yield _format_row("Index", translate(found.index))
    yield _format_row("History", found.history)
    if found.external:
        edits = "{count} files were changed outside of kimi-memory"
        yield _format_row("Edits", say(edits, count=found.external))
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
            yield _format_row(name, translate(line))
        if len(lines) > _MOST:
            yield _format_row(name, say("… and {count} more", count=len(lines) - _MOST))


def _format_row(name: str, text: str) -> str:
    """Return what belongs to a name, in a column of its own."""
    return f"{pad(say(name), _NAME)} {text}"


def _format_contents(found: Status) -> Iterator[str]:
    counts = {"open": found.open_sessions, "ended": found.ended_sessions, "turns": found.turns}
    yield _format_row("Sessions", say("{open} open, {ended} ended, {turns} turns", **counts))
    for kind, held in found.notes.items():
        parts = ", ".join(f"{count} {say(name)}" for name, count in held.items())
        yield _format_row(kind.capitalize(), f"{sum(held.values())} ({parts})")
    if found.links:
        parts = ", ".join(f"{count} {say(rel)}" for rel, count in sorted(found.links.items()))
        yield _format_row("Links", f"{sum(found.links.values())} ({parts})")
    if sum(found.bands.values()):
        yield from _format_temperatures(found)
    waiting = "{count}, {waiting} sessions wait to be distilled"
    yield _format_row("Jobs", say(waiting, count=found.jobs, waiting=found.waiting))
    for command, count in found.asks.items():
        asks = "{count} for you: kimi-memory {command}"
        yield _format_row("Waiting", say(asks, count=count, command=command))


def _format_temperatures(found: Status) -> Iterator[str]:
    """Yield how many cards are in each band, and a bar for each step of temperature."""
    whole = sum(found.bands.values())
    parts = ", ".join(f"{count} {say(band)}" for band, count in found.bands.items())
    yield _format_row("Warmth", parts)
    if sum(map(bool, found.temperatures.values())) < 2:
        return  # One full bar among empty ones tells no more than the line above.
    for step, count in found.temperatures.items():
        bar = "█" * round(_BAR * count / whole)
        yield f"  {step}  {bar:░<{_BAR}} {count / whole:4.0%}"
