"""An event: something that happened in a session and is worth keeping."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from kimi_memory.domain.note import Note
from kimi_memory.domain.source import Quote


class EventType(StrEnum):
    """The four kinds of events."""

    DECISION = "decision"
    FINDING = "finding"
    FAILURE = "failure"
    SUCCESS = "success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Note):
    """One file ``episodic/YYYYMMDD_<event>.md``."""

    kind: ClassVar[str] = "event"
    body_fields: ClassVar[tuple[str, ...]] = ("content", "outcome", "lesson")
    """The texts of its page, in their order; everything that searches, forgets or purges events
    goes by this list."""
    title: str
    type: EventType
    at: datetime
    participants: tuple[str, ...] = ()
    content: str = ""
    outcome: str = ""
    lesson: str = ""
    quotes: tuple[Quote, ...] = ()
    key: str = ""
    importance: float = 0.5
    project: str = ""
    scope: str = ""
    """Whose it is, see `kimi_memory.domain.scope`; everybody's if empty."""

    @property
    def body_texts(self) -> tuple[str, ...]:
        """The texts of its page below the title."""
        return tuple(getattr(self, name) for name in self.body_fields)
