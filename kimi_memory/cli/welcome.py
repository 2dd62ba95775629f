"""``kimi-memory`` alone: in a memory how it is and what to do next, elsewhere the commands."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.cli.overview import format_next
from kimi_memory.cli.shared import find_memory, leave, open_memory, say, show, show_json
from kimi_memory.domain.note import LIVE, Card
from kimi_memory.domain.pages import Event
from kimi_memory.errors import NotAMemoryError
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.open_questions import asking
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf


def welcome(arguments: Namespace, parser: ArgumentParser) -> int:
    """Show how the memory is and what to do next; without a memory, the commands."""
    try:
        find_memory(arguments)
    except NotAMemoryError:
        print(parser.format_help(), end="")
        return 0
    with open_memory(arguments) as memory:
        found = _describe(memory)
        leave(memory)
        if arguments.json:
            show_json(found)
        else:
            _show(memory, found)
    return 0


def _describe(memory: Memory) -> dict[str, Any]:
    """Return what is held and what waits, by the heads of notes alone."""
    live = {str(status) for status in LIVE}
    entries = Shelf(memory.store).entries().values()
    kinds = Counter(entry.kind for entry in entries if entry.status in live)
    places = list(sessions.places(memory.store))
    return {
        "memory": memory.root,
        "name": memory.settings.memory.name,
        "cards": kinds[Card.kind],
        "events": kinds[Event.kind],
        "sessions": len(places),
        "open_sessions": sum(place.open for place in places),
        "asks": asking(memory),
    }


def _show(memory: Memory, found: dict[str, Any]) -> None:
    show(f"{found['name'] or memory.root.name}  {memory.root}")
    show(
        say(
            "{cards} cards and {events} events, from {sessions} sessions ({open} open)",
            cards=found["cards"],
            events=found["events"],
            sessions=found["sessions"],
            open=found["open_sessions"],
        )
    )
    if last := memory.history.log(limit=1):
        at = f"{in_zone(last[0].at, memory.zone):%Y-%m-%d %H:%M}"
        show(say("Last change {at}: {what}", at=at, what=last[0].subject))
    show()
    for line in format_next(found["asks"], found["cards"]):
        show(line)
