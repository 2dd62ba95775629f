"""A card: one piece of knowledge with a key, evidence and validity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from kimi_memory.domain.note import Note
from kimi_memory.domain.origin import Origin
from kimi_memory.domain.source import Quote


class CardType(StrEnum):
    """What sort of knowledge a card holds."""

    CONCEPT = "concept"
    PATTERN = "pattern"
    GOTCHA = "gotcha"
    DECISION = "decision"
    FACT = "fact"
    PREFERENCE = "preference"
    RULE = "rule"
    ENTITY = "entity"
    TASK_STATE = "task-state"


class LinkRel(StrEnum):
    """How one card bears on another."""

    RELATES_TO = "RELATES_TO"
    DEPENDS_ON = "DEPENDS_ON"
    CAUSED_BY = "CAUSED_BY"
    SIMILAR_TO = "SIMILAR_TO"
    CONTRADICTS = "CONTRADICTS"
    TEMPORAL_NEXT = "TEMPORAL_NEXT"
    EXTRACTED_FROM = "EXTRACTED_FROM"


@dataclass(frozen=True, slots=True)
class Link:
    """An edge to another note; text form ``<to> <REL> <weight> [reason]``."""

    to: str
    rel: LinkRel = LinkRel.RELATES_TO
    weight: float = 0.5
    reason: str = ""

    @classmethod
    def parse(cls, text: str) -> Link:
        """Read the text form; ValueError says what is wrong."""
        to, _, rest = text.strip().partition(" ")
        rel, _, rest = rest.partition(" ")
        weight, _, reason = rest.partition(" ")
        if not to:
            raise ValueError("a link needs the id of a note")
        return cls(to, LinkRel(rel or "RELATES_TO"), float(weight or 0.5), reason.strip())

    def __str__(self) -> str:
        return f"{self.to} {self.rel} {self.weight:g} {self.reason}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Note):
    """One file ``semantic/<category>/<slug>.md``."""

    kind: ClassVar[str] = "card"
    body_fields: ClassVar[tuple[str, ...]] = ("value", "applies", "usage", "caveats")
    """The texts of its page below the title, in their order; everything that searches, forgets,
    purges or merges cards goes by this list."""
    title: str
    type: CardType
    key: str
    value: str
    """What is so: the definition line of the page."""
    applies: str = ""
    """When it is of use (适用场景)."""
    usage: str = ""
    """How to use it (使用方法)."""
    caveats: str = ""
    """Pitfalls and limits (注意事项)."""
    quotes: tuple[Quote, ...] = ()
    category: str = "general"
    project: str = ""
    scope: str = ""
    """Whose it is, see `kimi_memory.domain.scope`; everybody's if empty."""
    confidence: float = 0.5
    importance: float = 0.5
    trust: Origin = Origin.AGENT
    """The least trusted of its sources."""
    verified: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires: datetime | None = None
    supersedes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    temperature: float = 1.0
    """As of when its band last changed; cold below `kimi_memory.domain.search_types.COLD_BELOW`."""

    @property
    def body_texts(self) -> tuple[str, ...]:
        """The texts of its page below the title."""
        return tuple(getattr(self, name) for name in self.body_fields)
