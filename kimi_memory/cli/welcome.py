"""``kimi-memory`` alone: in a memory how it is and what to do next, elsewhere the commands."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.cli.overview import format_next
from kimi_memory.cli.shared import find_memory, leave, open_memory, say, show_result
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
        return show_result(arguments, found, _format_lines(memory, found))


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


def _format_lines(memory: Memory, found: dict[str, Any]) -> Iterator[str]:
    yield f"{found['name'] or memory.root.name}  {memory.root}"
    text = "{cards} cards and {events} events, from {sessions} sessions ({open} open)"
    yield say(text, open=found["open_sessions"], **found)
    if last := memory.history.log(limit=1):
        at = f"{in_zone(last[0].at, memory.zone):%Y-%m-%d %H:%M}"
        yield say("Last change {at}: {what}", at=at, what=last[0].subject)
    yield ""
    yield from format_next(found["asks"], found["cards"])
