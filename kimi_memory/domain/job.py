"""Changes to files and on whose behalf; jobs: what they see, plan and change.

Paths are relative to the memory folder, with forward slashes. `base` is the
SHA-256 (hex) of the bytes the stage read; a change over another content is refused.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.domain.note import Card, Lang, Note, Origin
from kimi_memory.domain.pages import Agent, Digest, Event, Identity, Project
from kimi_memory.domain.session import Session
from kimi_memory.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from kimi_memory.nlp.dates.vocabulary import Zone


class Actor(NamedTuple):
    """Who writes, with what trust, in which session or job, and for whom."""

    name: str
    """``cli``, ``library``, ``job:daily``, ``claude`` …"""
    origin: Origin = Origin.AGENT
    session: str = ""
    job: str = ""
    sub: str = ""
    """The member of a space on whose behalf; empty where there is none."""
    run: str = ""
    """The run of an agent that writes; empty where none is known."""


def of_job(actor: Actor, kind: str) -> Actor:
    """Return a job as the one who writes, for whom somebody had it run."""
    return actor._replace(name=f"job:{kind}", session="", job=kind)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as changes and jobs carry it."""
    return hashlib.sha256(content).hexdigest()


class Create(NamedTuple):
    """A new file; refused where one exists."""

    path: str
    content: bytes


class Update(NamedTuple):
    """New bytes for the file whose bytes hashed to `base`."""

    path: str
    base: str
    content: bytes


class Append(NamedTuple):
    """Whole lines at the end of a file, made if it is not there."""

    path: str
    lines: tuple[bytes, ...]
    """Each ends in a newline and holds no other."""


class Move(NamedTuple):
    """The same bytes at another path; refused where that exists."""

    path: str
    to: str
    base: str


class Delete(NamedTuple):
    """No file any more; its bytes stay in history and in the undo area."""

    path: str
    base: str


Change = Create | Update | Append | Move | Delete


# Hashes and no contents: undo takes those from history, and a purged text must not live on in the
# record of a job.
@dataclass(frozen=True, slots=True)
class Effect:
    """What became of one file: hashes before and after, empty for absent."""

    path: str
    before: str
    after: str


class Op(StrEnum):
    """The typed operations a job is made of."""

    ADD = "ADD"
    CORROBORATE = "CORROBORATE"
    REFINE = "REFINE"
    SUPERSEDE = "SUPERSEDE"
    CONFLICT = "CONFLICT"
    MERGE = "MERGE"
    LINK = "LINK"
    ARCHIVE = "ARCHIVE"
    FORGET = "FORGET"


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision of a job and its reason."""

    op: Op
    target: str
    """Id of the note it concerns."""
    key: str = ""
    why: str = ""


class TokenBound(NamedTuple):
    """How many tokens jobs may spend in a day, and what is left of today."""

    most: int
    left: int
    """Below zero where more was spent."""
    space: str
    """Whose bound it is."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What asking models cost a job."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


# Shared, and left out of records: most jobs ask no model.
NOTHING = Spent()


@dataclass(frozen=True, slots=True)
class Job:
    """``mid-term/jobs/<job>.json``."""

    id: str
    kind: str
    """distil, daily, weekly, introspect, import, merge, remember …"""
    at: datetime
    inputs: str
    """SHA-256 over everything the job read: the same inputs give nothing to do."""
    subject: str = ""
    """The session, day or week it is about."""
    model: str = "rules"
    prompt: str = ""
    """Version hash of the prompt where a model took part."""
    spent: Spent = NOTHING
    operations: tuple[Operation, ...] = ()
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job did, or with a dry run would do."""

    id: str
    """Empty when there was nothing to do."""
    kind: str
    subject: str
    operations: tuple[Operation, ...] = ()
    paths: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    diff: str = ""
    """Unified diff, with a dry run only."""
    commit: str = ""
    model: str = "rules"
    spent: Spent = NOTHING
    """What asking a model cost."""
    failed: str = ""
    """Why nothing was done, where one of several jobs failed."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many operations of each type."""
        return dict(Counter(str(operation.op) for operation in self.operations))


# The whole note and not a patch: the gates judge what will stand there, and a second plan over it
# finds nothing to do.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a job decided."""

    kind: str
    subject: str
    """The session, day or week it is about."""
    inputs: str
    """Digest of what was read."""
    steps: tuple[Step, ...] = ()
    changes: tuple[Change, ...] = ()
    """Files that are not notes: archives, pages."""
    decided: tuple[Operation, ...] = ()
    """What becomes of notes whose files are among the changes, as they lay in another version."""
    left_out: tuple[str, ...] = ()
    """One line for each draft that a gate or a rule held back."""
    model: str = "rules"
    prompt: str = ""
    spent: Spent = NOTHING
    """What asking a model cost."""
    room: int = 0
    """So many files may change besides those that settings allow; a long session says much."""
    # A gate stops a job that archives half of a memory by mistake, and must not stop a person who
    # means it.
    asked: bool = False
    """A person named what goes; how much that is, is theirs to say."""
    brought: bool = False
    """The files are those of another copy: they wait for a person's word as what a merge brings."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.steps and not self.changes


def digest_of(parts: Iterable[str]) -> str:
    """Return the SHA-256 over the parts of a job's input."""
    # A byte that no text holds stands between them, so that no two lists of parts look alike.
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def operations(steps: Iterable[Step]) -> tuple[Operation, ...]:
    """Return the record of the steps, as it goes into the job file."""
    return tuple(Operation(s.op, s.note.id, _card_key(s.note), s.why) for s in steps)


def replaced(note: Note, *, there: bool, stays: bool, why: str) -> Operation:
    """Return the record of a note whose file is that of another version.

    Args:
        note: as it is, or as it will be.
        there: whether it is there now.
        stays: whether it will be.
        why: the reason.
    """
    op = (Op.REFINE if there else Op.ADD) if stays else Op.ARCHIVE
    return Operation(op, note.id, _card_key(note), why)


def _card_key(note: Note) -> str:
    return note.key if isinstance(note, Card) else ""
