"""Notes: what every note has, whose word it rests on, and cards."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise


class Role(StrEnum):
    """Who speaks, in the words of chat APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Origin(StrEnum):
    """Where words come from; listed from most to least trusted."""

    HUMAN = "human"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"
    REMOTE = "remote"

    # The order of the members is the order of trust: no number of its own can disagree with it.
    @property
    def rank(self) -> int:
        """0 for the most trusted origin, growing as trust falls."""
        return list(Origin).index(self)


def least_trusted(origins: list[Origin]) -> Origin:
    """Return the origin a note derived from all of these has; REMOTE for none."""
    # A chain of evidence is as good as its worst link, and no evidence at all is worse than any.
    return max(origins, key=lambda origin: origin.rank, default=Origin.REMOTE)


class Status(StrEnum):
    """Where a note stands in its life."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    STALE = "stale"
    CONFLICTED = "conflicted"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


LIVE = frozenset({Status.CANDIDATE, Status.ACTIVE, Status.STALE, Status.CONFLICTED})
"""What is held to be so, or might be."""


_SOURCE_FORM = re.compile(
    r"session:(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)#(?P<first>\d+)(?:-(?P<last>\d+))?"
    r"(?: (?P<rel>supports|contradicts|updates))?(?: (?P<quote>[0-9a-f]{12}))?"
)


# In the id, as a source says no more of its session: an edit must be known from speech without
# opening a file.
HAND = "edited-"
"""How the ids of sessions begin that hold what a person wrote by hand."""


class Rel(StrEnum):
    """How evidence bears on a note."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    UPDATES = "updates"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words somebody said, and the turn they stand in."""

    session: str
    n: int
    text: str

    @property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of the normalised words."""
        # Normalised, so that a quote with other spaces or wide signs is the same evidence; 12
        # digits tell apart all quotes of one note.
        return hashlib.sha256(normalise(self.text).encode()).hexdigest()[:12]

    def stands_in(self, turn: str) -> bool:
        """Whether the words occur in the text of a turn, up to width, case and spaces."""
        words = normalise(self.text)
        # No words stand in any turn.
        return bool(words) and words in normalise(turn)


# One line of text, as people read it in the head of a file and correct it there.
@dataclass(frozen=True, slots=True)
class Source:
    """Evidence: one turn or a run of turns, its relation, and the quote's hash if any.

    Text form: ``session:<id>#<n>[-<m>] [supports|contradicts|updates] [<hash>]``.
    """

    session: str
    first: int
    last: int
    rel: Rel = Rel.SUPPORTS
    quote: str = ""

    @classmethod
    def from_quote(cls, quote: Quote, rel: Rel = Rel.SUPPORTS) -> Source:
        """Return the evidence that a quote is."""
        return cls(quote.session, quote.n, quote.n, rel, quote.hash)

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read the text form; ValueError says what is wrong."""
        found = _SOURCE_FORM.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"not a source: {text!r} (session:<id>#<n> supports)")
        first = int(found["first"])
        last = int(found["last"] or first)
        # Typed by hand; swapping the two would hide a mistake in the numbers.
        if last < first:
            raise ValueError(f"turns run backwards in {text!r}")
        return cls(found["id"], first, last, Rel(found["rel"] or "supports"), found["quote"] or "")

    @property
    def by_hand(self) -> bool:
        """Whether a person wrote it on a page, or into a card."""
        return self.session.startswith(HAND)

    @property
    def place(self) -> str:
        """The turns alone: ``session:<id>#<n>`` or ``…#<n>-<m>``."""
        run = "" if self.last == self.first else f"-{self.last}"
        return f"session:{self.session}#{self.first}{run}"

    def __str__(self) -> str:
        parts = [self.place, str(self.rel)]
        return " ".join([*parts, self.quote] if self.quote else parts)


class Lang(StrEnum):
    """The languages notes are written in."""

    ZH = "zh"
    EN = "en"


# By keyword only: a field that is added in the middle must not shift the meaning of a call.
@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The part all notes share."""

    kind: ClassVar[str] = "note"
    # A list and not one place for each use: a text that search knew and a purge did not would
    # survive it.
    body_fields: ClassVar[tuple[str, ...]] = ()
    """The texts of its page below the title, in their order; everything that searches, forgets,
    purges or merges notes goes by this list."""
    id: str
    created: datetime
    updated: datetime
    tags: tuple[str, ...] = ()
    status: Status = Status.ACTIVE
    sources: tuple[Source, ...] = ()
    lang: Lang = Lang.EN

    @property
    def body_texts(self) -> tuple[str, ...]:
        """The texts of its page below the title."""
        return tuple(getattr(self, name) for name in self.body_fields)


class EventType(StrEnum):
    """The four kinds of events."""

    DECISION = "decision"
    FINDING = "finding"
    FAILURE = "failure"
    SUCCESS = "success"


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
        # From the left, because the reason may hold anything, and all but the id may be left out.
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
    """Whose it is, see `kimi_memory.domain.session`; everybody's if empty."""
    confidence: float = 0.5
    importance: float = 0.5
    # What claims nothing of its origin is no person's word.
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
    def own_quotes(self) -> tuple[Quote, ...]:
        """The quotes that speak for it; a side of a conflict holds those of the other, too."""
        against = {
            (one.session, one.first, one.quote)
            for one in self.sources
            if one.rel is Rel.CONTRADICTS
        }
        return tuple(q for q in self.quotes if (q.session, q.n, q.hash) not in against)
