"""What a person takes back in words: cards let go, with tombstones, and off the pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.change import Append, Change
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.pages import Day, Project
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.nlp.basic.normalize import normalise
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf

WHY = "taken back in words"
_SHORTEST_LINE = 4


def let_go(card: Card, at: datetime, now: datetime) -> Card:
    """Return a card as it is once it was taken back: kept, dated, and not held true."""
    return replace(card, status=Status.ARCHIVED, valid_to=card.valid_to or at, updated=now)


def stones(cards: Iterable[Card], now: datetime) -> list[Change]:
    """Return the change that keeps what was taken back from being made again."""
    found = [stone for card in cards for stone in _build_tombstones(card, now)]
    lines = tuple(tombstone_line(stone) for stone in dict.fromkeys(found))
    return [Append(TOMBSTONES, lines)] if lines else []


def _build_tombstones(card: Card, now: datetime) -> Iterator[Tombstone]:
    scope = card.scope or (f"project:{card.project}" if card.project else "memory")
    for text in (card.value, *(quote.text for quote in card.quotes)):
        if text.strip():
            yield Tombstone(scope, card.key, normalise(text), now, "a person", WHY)


def pages(shelf: Shelf, cards: Iterable[Card], now: datetime) -> Iterator[Step]:
    """Yield the pages of days and projects without the lines that repeat the cards."""
    shared = [card for card in cards if not card.scope]  # No page shows the others.
    said = {normalise(text) for card in shared for text in (card.value, card.title)}
    # "ok" stands in every second line.
    said = {text for text in said if len(text) >= _SHORTEST_LINE}
    for kind in (Day.kind, Project.kind) if said else ():
        for filed in shelf.notes(kind):
            page = filed.note
            cut = _cut_lines(page, said) if isinstance(page, Day | Project) else page
            if cut != page:
                yield Step(Op.REFINE, replace(cut, updated=now), f"repeats what was {WHY}")


def _cut_lines(page: Day | Project, said: set[str]) -> Day | Project:
    def kept(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(line for line in lines if not any(text in normalise(line) for text in said))

    if isinstance(page, Day):
        sessions, events = kept(page.sessions), kept(page.events)
        return replace(page, sessions=sessions, events=events, knowledge=kept(page.knowledge))
    return replace(
        page,
        state=kept(page.state),
        progress=kept(page.progress),
        decisions=kept(page.decisions),
        risks=kept(page.risks),
        preferences=kept(page.preferences),
    )
