"""Notes that tests put into a memory, with the fields that matter to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kimi_memory import Memory
from kimi_memory.domain.note import Card, CardType, EventType, Lang, Note
from kimi_memory.domain.pages import Event
from kimi_memory.formats import codec

NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
"""What the clock of the tests shows."""


def days_ago(days: float) -> datetime:
    """Return a moment before the clock's."""
    return NOW - timedelta(days=days)


def card(name: str, value: str, *, age: float = 1, **more: object) -> Card:
    """Return a card that was made so many days ago."""
    at = days_ago(age)
    lang = Lang.EN if value.isascii() else Lang.ZH
    base = Card(
        id=f"card-{name}", created=at, updated=at, verified=at, valid_from=at, lang=lang,
        title=value[:40], type=CardType.FACT, key=f"k.{name}", value=value,
    )  # fmt: skip
    return replace(base, **more)


def event(name: str, content: str, *, age: float = 1, **more: object) -> Event:
    """Return an event of so many days ago."""
    at = days_ago(age)
    base = Event(
        id=f"event-{name}", created=at, updated=at, at=at, title=content[:40], content=content,
        type=EventType.FINDING, lang=Lang.EN if content.isascii() else Lang.ZH, key=f"k.{name}",
    )  # fmt: skip
    return replace(base, **more)


def put(memory: Memory, *notes: Note) -> None:
    """Write notes into a memory and commit them, as a person's editor would."""
    for note in notes:
        path = memory.root / codec.place(note)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(codec.render(note), encoding="utf-8")
    memory.store.reconcile()
    memory.history.commit("Notes put here by hand")
