"""Events, digests, and the pages that gather notes: projects, agents, identity, days, proposals."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import ClassVar

from kimi_memory.domain.note import Card, EventType, Lang, Note, Quote, Rel
from kimi_memory.domain.session import Json
from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Note):
    """One file ``episodic/YYYYMMDD_<event>.md``."""

    kind: ClassVar[str] = "event"
    body_fields: ClassVar[tuple[str, ...]] = ("content", "outcome", "lesson")
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
    """Whose it is, see `kimi_memory.domain.session`; everybody's if empty."""


class Part(StrEnum):
    """The sections of a digest, in the order they are shown."""

    ASKED = "asked"
    """What the person wanted from the session."""
    ORDERED = "ordered"
    """What the person asked the agent to do from now on."""
    DECIDED = "decided"
    """What was decided or corrected, with the offer where it answers one."""
    TOLD = "told"
    """What people said of themselves, their people, things and plans."""
    FOUND = "found"
    """What the agent says it found and did."""
    OPEN = "open"
    """What was still to do at the end."""


# A line names its turns, so that a page can be checked against what was said; a digest without
# proof would be one more opinion.
@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line: words of a turn, or of an offer and its answer.

    Text form: ``**who**: words #first-last (day)``; `who`, `last` and `day` only where they say
    more.
    """

    part: Part
    text: str
    first: int = 0
    """Number of the turn quoted; 0 for a remark that a person wrote on the page."""
    last: int = 0
    """Number of the last turn quoted; that of `first` where it is one."""
    who: str = ""
    """Who said it, where that is not the one person who talks with an agent."""
    day: str = ""
    """The day it was said (YYYY-MM-DD), where that is not the day its session began."""
    written: bool = False
    """A model put it in its own words, which the turn must bear out; no part of the text form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest(Note):
    """One file ``episodic/YYYYMMDD_<title>.md``."""

    kind: ClassVar[str] = "digest"
    title: str
    session: str
    """Id of the session it is about."""
    at: datetime
    """When the session began."""
    participants: tuple[str, ...] = ()
    lines: tuple[DigestLine, ...] = ()
    project: str = ""
    scope: str = ""
    """Whose it is, see `kimi_memory.domain.session`; everybody's if empty."""

    def part(self, part: Part) -> tuple[DigestLine, ...]:
        """Return the lines of one section, in the order of the session."""
        return tuple(line for line in self.lines if line.part is part)


@dataclass(frozen=True, slots=True)
class Todo:
    """One line of a project's list: ``- [ ] text`` or ``- [x] text``."""

    text: str
    done: bool = False
    id: str = ""
    """The card it is from; empty for a line that a person wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project(Note):
    """``mid-term/projects/<project>.md``.

    A line that a job wrote ends with the id of its card, event or digest, see
    `kimi_memory.formats.page_lines`.
    """

    kind: ClassVar[str] = "project"
    name: str
    finished: bool = False
    goal: str = ""
    state: tuple[str, ...] = ()
    """Where the work stands: what came out last, and what was left open."""
    todos: tuple[Todo, ...] = ()
    decisions: tuple[str, ...] = ()
    """With their reasons."""
    risks: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    progress: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Note):
    """``mid-term/agents/<agent>.md``."""

    kind: ClassVar[str] = "agent"
    name: str
    persona: str = ""
    state: tuple[str, ...] = ()
    """What it did last, and what was left open."""
    skills: tuple[str, ...] = ()
    relationships: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity(Note):
    """``long-term/IDENTITY.md``."""

    kind: ClassVar[str] = "identity"
    name: str
    who: str = ""
    beliefs: tuple[str, ...] = ()
    mission: str = ""
    abilities: tuple[str, ...] = ()
    growth: tuple[str, ...] = ()


IDENTITY_PATH = "long-term/IDENTITY.md"
IDENTITY_HEAD: dict[str, Json] = {
    # A fixed id: there is one such page, and files of people without a head must still have one.
    "id": "identity",
    "kind": Identity.kind,
    "created": "1970-01-01T00:00:00Z",
}
"""What the head of that page says where a person wrote none."""
# Known here, so that a page which nobody edited can follow the language of the memory.
STARTER_IDENTITY = {
    Lang.ZH: ("一个有记忆的智能体。", "记住重要的事，并能说明依据。"),
    Lang.EN: ("An agent that remembers.", "Keep what matters, with proof."),
}
"""Who a new memory says it is, and what for."""
STARTER_NAME = {Lang.ZH: "智能体", Lang.EN: "Agent"}
"""What it is called where nobody gave it a name."""


STARTER_PAGES = {"USER.md": "starter/USER", "PROJECT.md": "starter/PROJECT"}
"""The pages that a person fills, and the templates they start from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day(Note):
    """``episodic/daily/YYYY-MM-DD.md``, the log of a day."""

    kind: ClassVar[str] = "day"
    date: date
    sessions: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Note):
    """``review/<id>.md``: a change that waits for a person."""

    kind: ClassVar[str] = "proposal"
    title: str
    target: str
    """Path in the memory of the page it would change."""
    section: str
    """Label of the section of that page, such as ``beliefs``."""
    text: str
    reason: str = ""


def supporting(note: Note) -> tuple[Quote, ...]:
    """Return the quotes a note rests on, without those that speak against it."""
    against = {s.quote for s in note.sources if s.rel is Rel.CONTRADICTS}
    # The same words may be quoted on both sides, once for and once against.
    against -= {s.quote for s in note.sources if s.rel is not Rel.CONTRADICTS}
    quotes = note.quotes if isinstance(note, Card | Event) else ()
    return tuple(quote for quote in quotes if quote.hash not in against)
