"""Units of recall and what a query finds: unit, chunk, query, hit, answer, context block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal, NamedTuple

from kimi_memory.lazy_dataclass import dataclass

Purpose = Literal["start", "task", "live"]
"""What a context block is for."""
COLD_BELOW = 0.3
"""A card whose file has a temperature below this is cold: it has no vector."""


class ChunkSizes(NamedTuple):
    """How a Markdown page is cut into chunks."""

    max_tokens: int = 512
    overlap_tokens: int = 50
    headings: bool = True
    """Whether each heading begins a chunk."""


class Chunk(NamedTuple):
    """A piece of a Markdown page: its lines, text and heading trail."""

    first: int
    """First line, from 1."""
    last: int
    text: str
    trail: tuple[str, ...] = ()
    """Headings above it, outermost first."""


# One class for turns, cards and chunks: the columns of the index are its fields, and filters need
# not ask what kind a row is.
@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The smallest thing recall returns: a turn, a card, or a chunk of a page."""

    id: str
    """``session:<id>#<n>`` for a turn, the note's id for a card, ``<path>#L<n>`` else."""
    kind: str
    """turn, card, event, project, agent, identity, day, page."""
    tier: str
    """short-term, episodic, mid-term, semantic, long-term, or ``page`` at top level."""
    path: str
    first: int
    last: int
    text: str
    title: str = ""
    session: str = ""
    """Root session id, the same for its continuations."""
    n: int = 0
    speaker: str = ""
    role: str = ""
    at: datetime | None = None
    type: str = ""
    key: str = ""
    status: str = "active"
    tags: tuple[str, ...] = ()
    project: str = ""
    agent: str = ""
    user: str = ""
    scope: str = ""
    """Whose it is, see `kimi_memory.domain.session`; everybody's if empty."""
    confidence: float = 1.0
    importance: float = 0.5
    # The defaults are those of a page that a person wrote by hand, which says nothing of itself.
    trust: str = "human"
    valid_from: datetime | None = None
    """Of cards: since when they hold."""
    valid_to: datetime | None = None
    temperature: float = 1.0
    """Of cards; below `COLD_BELOW` it has no vector."""
    links: tuple[str, ...] = ()
    """What it states or mentions, each in the text form of `kimi_memory.domain.note.Link`."""
    lang: str = ""
    """Of cards: the language of their words."""
    section: str = ""
    """Of cards: where a start block may show them, see `kimi_memory.domain.brief`; empty for
    those it may not."""
    order: float = 0.0
    """Of cards: the place in the section, the least first …"""
    weight: float = 0.0
    """… then the least of these …"""
    since: datetime | None = None
    """… then the newest."""
    over: tuple[str, ...] = ()
    """Of cards that do not hold any more: the sessions they rest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to the memory and its filters; empty ones filter nothing.

    Nothing in `text` is syntax here; `kimi_memory.recall.query_parser` reads phrases,
    exclusions and fields out of one line.
    """

    text: str
    """What ranks the lines: words, a question, in any language."""
    limit: int = 10
    min_score: float = 0.0
    min_relevance: float = 0.0
    """Find nothing where the memory has to do with the text with less likelihood, 0 to 1."""
    tier: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    speaker: tuple[str, ...] = ()
    """Names or roles of who said it, whatever their case."""
    session: tuple[str, ...] = ()
    """Root ids of sessions."""
    key: tuple[str, ...] = ()
    """Keys of cards; a key stands for those below it too: ``db`` for ``db.choice``."""
    path: tuple[str, ...] = ()
    """Files or folders, or patterns such as ``semantic/*/db-*.md``."""
    phrases: tuple[str, ...] = ()
    """What a hit must say, up to width, case and spaces; ``deploy*`` begins a word."""
    excluded: tuple[str, ...] = ()
    """What a hit must not say; written like phrases."""
    project: str = ""
    agent: str = ""
    user: str = ""
    # None and an empty tuple differ: the owner sees everything, a bound caller with no scope of its
    # own only what is shared.
    within: tuple[str, ...] | None = None
    """Private scopes that may be seen beside what is shared; None for all, which is the owner's."""
    since: datetime | None = None
    """Only from this moment on; what has no time is left out."""
    until: datetime | None = None
    """Only before this moment."""
    valid_at: datetime | None = None
    """What was held to be true at this moment; relative dates count from it."""
    as_of: str = ""
    """A point in the history: ask for what was known then; see `Memory.at`."""
    # None stands for the setting, as 0 is a choice of its own; the same below.
    hops: int | None = None
    """How many links to follow from the best hits, 0 to 2; the setting if None."""
    turn_days: int = 0
    """Turns of so many last days alone, unless a time is named; the setting if 0."""
    vector_weight: float | None = None
    """Weight of the vector lane, or its share where they are joined 70/30; the setting if None."""
    fusion: str = ""
    """How the lanes are joined: score, 70/30 or rrf; the setting if empty."""


@dataclass(frozen=True, slots=True)
class Related:
    """A note that a found one is linked with."""

    id: str
    title: str
    rel: str
    """As seen from the hit: CAUSED_BY where it names the cause, CAUSES where it is one."""
    weight: float
    """0 to 1; the product over the way."""
    hops: int = 1


@dataclass(frozen=True, slots=True)
class Hit:
    """One found unit and why it was found."""

    unit: Unit
    score: float
    """0 to 1 within one answer; higher is better."""
    snippet: str
    parts: Mapping[str, float] = field(default_factory=dict)
    """Summands and factors of the score by name: turn, window, session, vector, speaker …"""
    lanes: tuple[str, ...] = ()
    """Which lanes found it: keyword, vector, key, graph."""
    related: tuple[Related, ...] = ()
    """What it is linked with, strongest first."""

    @property
    def is_beside(self) -> bool:
        """Whether only what stands beside it, or was said on its day, says the words."""
        around = {"window", "session", "day"} & self.parts.keys()
        return bool(around) and not {"turn", "vector", "marked"} & self.parts.keys()

    @property
    def citation(self) -> str:
        """``path#L2`` or ``path#L2-L5``."""
        unit = self.unit
        run = "" if unit.last == unit.first else f"-L{unit.last}"
        return f"{unit.path}#L{unit.first}{run}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query found, and how."""

    hits: tuple[Hit, ...]
    lanes: tuple[str, ...] = ()
    """Lanes that took part."""
    notes: tuple[str, ...] = ()
    """What a person should know: a lane that is off, an index that is not used."""
    took_ms: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    """What each lane counts in the score, altogether 1; by rank where the fusion is rrf."""


@dataclass(frozen=True, slots=True)
class Context:
    """A context block."""

    text: str
    """Empty when nothing fits."""
    tokens: int
    lines: tuple[str, ...]
    """Ids of what is in it, in the order shown."""
    dropped: int
    """How many lines did not fit."""
