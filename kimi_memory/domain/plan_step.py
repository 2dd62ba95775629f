"""A step of a job's plan, and what a job gets to see: the day, the week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import NamedTuple

from kimi_memory.domain.card import Card
from kimi_memory.domain.digest import Digest
from kimi_memory.domain.event import Event
from kimi_memory.domain.job import Op
from kimi_memory.domain.note import Lang, Note
from kimi_memory.domain.pages import Agent, Identity, Project
from kimi_memory.domain.session import Session
from kimi_memory.nlp.dates.zone import Zone


@dataclass(frozen=True, slots=True)
class Step:
    """One decision and the note as it should be afterwards.

    A note that exists already (same id) is patched to the new value, any other
    is made. Where its path follows from its value (an archived project), it moves.
    """

    op: Op
    note: Note
    why: str


class Verdict(StrEnum):
    """How a draft bears on a live card of the same key."""

    AGREES = "agrees"
    REFINES = "refines"
    REPLACES = "replaces"
    CONFLICTS = "conflicts"
    UNRELATED = "unrelated"


class Spoken(NamedTuple):
    """A line of a session's digest, with who said it and when."""

    at: datetime
    session: str
    who: str
    text: str
    first: int
    """Number of the first turn quoted …"""
    last: int
    """… and of the last, which is whose and when it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayView:
    """Everything a daily consolidation may look at."""

    date: date
    now: datetime
    lang: Lang
    events: tuple[Event, ...]
    """Events of that day."""
    cards: Sequence[Card]
    """All cards that are not archived, or were before they expire, each read when it is looked
    at; see `Cards.of`."""
    projects: tuple[Project, ...]
    sessions: tuple[str, ...] = ()
    """Sessions ended that day."""
    digests: tuple[Digest, ...] = ()
    """Of the sessions that began that day."""
    spoken: tuple[Spoken, ...] = ()
    """What these digests quote, in the order it was said."""
    agents: tuple[Agent, ...] = ()
    past: tuple[Session, ...] = ()
    """The headers of all shared sessions that have ended."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """How often each note was shown that day, by id."""
    zone: Zone = UTC
    """The zone of its day and of shown times; notes hold moments of UTC."""
    min_importance: float = 0.6
    """Events from this importance on are folded into knowledge."""
    stale_days: int = 30
    """A card unverified for so long is stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekView:
    """Everything a weekly consolidation may look at; the week is ISO, Monday first."""

    first: date
    last: date
    now: datetime
    lang: Lang
    events: tuple[Event, ...]
    cards: Sequence[Card]
    """All cards, each read when it is looked at; see `Cards.of`."""
    projects: tuple[Project, ...]
    identity: Identity | None = None
    digests: tuple[Digest, ...] = ()
    """Of the sessions of the week."""
    accept: float = 0.85
    """Suggested links from this weight on are confirmed."""
    zone: Zone = UTC
    """The zone of its days; notes hold moments of UTC."""
