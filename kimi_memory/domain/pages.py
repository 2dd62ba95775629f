"""Pages that gather notes: projects, agents, identity, days, proposals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from kimi_memory.domain.json_value import Json
from kimi_memory.domain.note import Lang, Note


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
    `kimi_memory.formats.marks`.
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
    "id": "identity",
    "kind": Identity.kind,
    "created": "1970-01-01T00:00:00Z",
}
"""What the head of that page says where a person wrote none."""
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
