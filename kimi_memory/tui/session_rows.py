"""Sessions, newest first, and the end of one, which grows while it is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kimi_memory.domain.session import speaker_of
from kimi_memory.errors import KimiMemoryError
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.session_list import list_sessions
from kimi_memory.store.notes import sessions
from kimi_memory.tui.desk import Desk
from kimi_memory.tui.rows import Cell, Page, Part, Row

PAGE = 100
TAIL = 200
"""So many last turns of a session are shown."""


class Sessions:
    """Open sessions first, then ended ones, newest first."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._paths: dict[str, str] = {}

    def page(self, words: str, after: str) -> Page:
        """Return a hundred sessions; the place of the next is a number."""
        memory, say = self._desk.memory, self._desk.say
        places = list_sessions(memory)
        first = int(after or 0)
        rows = []
        for place in places[first : first + PAGE]:
            self._paths[place.id] = place.path
            state = ("open", "green") if place.open else ("ended", "dim")
            cells = (Cell(say[state[0]], state[1], 8), Cell(place.id))
            rows.append(Row(place.id, cells, "session"))
        end = first + PAGE
        return Page(tuple(rows), len(places), str(end) if end < len(places) else "")

    def size(self, row: Row) -> int:
        """Return how many bytes a session has; it changed where that did."""
        # Its file moves when the session ends; the next look finds it there.
        with suppress(OSError):
            return (self._desk.memory.store.root / self._paths[row.id]).stat().st_size
        return 0  # It was archived meanwhile.

    def detail(self, row: Row) -> Iterator[Part]:
        """Yield the last turns of a session."""
        memory, say = self._desk.memory, self._desk.say
        place = sessions.find(memory.store, row.id)
        self._paths[row.id] = place.path
        try:
            found = sessions.read(memory.store, place.path)
        except KimiMemoryError as error:
            yield self._desk.tell(str(error)), "yellow"
            return
        head = found.session
        facts = (head.title, head.project, head.agent, head.host)
        yield head.id, "bold"
        yield "  ".join(one for one in facts if one), "dim"
        yield say["turns"].format(count=len(found.turns)), "dim"
        for turn in found.turns[-TAIL:]:
            at = in_zone(turn.at, memory.zone)
            yield "", ""
            yield f"#{turn.n} {speaker_of(turn, head)}  {at:%m-%d %H:%M}", "cyan"
            yield turn.text, ""
