"""What the API answers where the library's own values hold too much, or none fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from kimi_memory.domain.operation_types import Commit
from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A run of lines that a search found."""

    path: str
    startLine: int  # noqa: N815  the published contract of /search
    endLine: int  # noqa: N815  the published contract of /search
    snippet: str
    score: float
    id: str
    citation: str
    status: str
    trust: str


@dataclass(frozen=True, slots=True)
class Places:
    """What /search found."""

    results: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a file, as /get gives them."""

    path: str
    startLine: int  # noqa: N815  the published contract of /get
    endLine: int  # noqa: N815  the published contract of /get
    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What /append stored."""

    path: str
    id: str
    """Of the turn or the note; empty when nothing new was stored."""
    stored: bool
    masked: int = 0
    """How many secrets were masked."""
    stripped: int = 0
    """How many characters of injected blocks were left out."""


@dataclass(frozen=True, slots=True)
class Text:
    """A note or a file, or some lines of it."""

    path: str
    first: int
    text: str


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions that are open."""

    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a turn became."""

    session: str
    n: int
    """Its number; 0 when it was known already or nothing was left of it."""
    masked: int = 0
    stripped: int = 0
    durability: str = ""
    """Of a memory on several machines: ``replicated``, or ``local`` until its log answers."""


@dataclass(frozen=True, slots=True)
class History:
    """The messages to resume a session with."""

    session: str
    messages: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """One piece of evidence."""

    quote: str
    verified: bool
    path: str
    line: int
    said: tuple[str, ...] = ()
    """The turns it stands in, each as ``speaker: text``."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where a note comes from."""

    id: str
    kind: str
    path: str
    status: str
    evidence: tuple[Proof, ...] = ()
    commits: tuple[Commit, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a conflict."""

    id: str
    value: str
    confidence: float
    trust: str
    since: datetime
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quarrel:
    """What contradicts what."""

    key: str
    path: str
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A unified diff."""

    diff: str


@dataclass(frozen=True, slots=True)
class State:
    """What is in the memory."""

    turns: int
    open_sessions: int
    ended_sessions: int
    waiting: int
    """Ended sessions that were not distilled yet."""
    jobs: int
    index: str
    history: str
    notes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    asks: Mapping[str, int] = field(default_factory=dict)
    """How much waits for a person, by the command that deals with it."""
    broken: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the server works."""

    status: str
    version: str


@dataclass(frozen=True, slots=True)
class ClusterState:
    """Who leads a memory, and how far this node got in its log."""

    memory: str
    node: str
    """The one that answers."""
    leader: str
    """The one that takes the writes; empty for nobody at the moment."""
    address: str
    """Where the leader is served; empty where nobody said so."""
    epoch: int
    """Number of its leadership."""
    left_seconds: float
    """How long that lasts unless it is renewed, by the clock of the engine."""
    seq: int
    """The last record that this node has carried out: the last one there is, unless it says why."""
    lag_ms: int
    """For how long it has not seen the end of the log; -1 where it never did."""
    may_lead: bool
    """Whether this node may take over."""
    why: str = ""
    """Why it carries out nothing more, or refuses what comes next; empty where all is well."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A machine of the cluster."""

    name: str
    kind: str
    use_case: str
    region: str
    zone: str
    status: str
    load: int
    """0 to 100."""
    seen_seconds: float
    """How long ago it said that it is there, by the clock of the engine."""
    since: str
    version: str
    key: str = ""
    """Its public key; empty where it signs nothing."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A memory on one machine, as that machine last described it."""

    memory: str
    name: str
    node: str
    role: str
    status: str
    why: str
    applied: int
    epoch: int
    lag_records: int
    lag_ms: int
    bytes: int
    durability: str
    promote: bool
    deployed: str
    synced: str
    seen_seconds: float
    address: str = ""
    """Where it is served; empty where nobody said so."""


@dataclass(frozen=True, slots=True)
class Led:
    """The machine that takes the writes of a memory now."""

    node: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A machine that was not taken, and why."""

    node: str
    why: str


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a task would run, and why there."""

    mode: str
    reasoning: str
    execution: str
    score: int
    why: str
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    seq: int
    """Its number; the events after it follow from ``Last-Event-ID``."""
    kind: Literal["capture", "job", "edit"]
    """Something was said in a session, a job was applied, or a person edited a file."""
    at: str
    path: str
    session: str = ""
    job: str = ""
    by: str = ""
