"""Values of the past: what a note said, since when, and which commit made it say so."""

from __future__ import annotations

from datetime import datetime

from kimi_memory.lazy_dataclass import dataclass


# Flat texts and no job or commit objects: each of these is shown, sent over HTTP and compared, and
# none is worked with.
@dataclass(frozen=True, slots=True)
class Cause:
    """The commit that made a note what it was, and the job behind it."""

    commit: str
    version: int
    at: datetime
    """When it was known."""
    job: str = ""
    kind: str = ""
    """Of the job, such as distil or pages; empty for a person's own commit."""
    model: str = ""
    op: str = ""
    """What the job did to the note: ADD, REFINE and the like."""
    why: str = ""
    author: str = ""
    # A fork has the same commits until it has its own; after a merge this says whose they were.
    copy: str = ""
    """The copy of the memory in which it was made, where that is known."""
    merged: bool = False
    """Whether it is a merge of two copies."""
    prompt: str = ""
    """What the job told its model, as a hash; empty where no model took part."""

    @property
    def short(self) -> str:
        """The job, or else the commit, as people write it."""
        return self.job or self.commit[:10]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One state of a note."""

    change: str
    """learned, changed, surer, disputed, let go, removed, moved and the like."""
    note: str
    kind: str
    key: str
    says: str
    """What the note says; empty where it was removed."""
    status: str
    path: str
    cause: Cause
    confidence: float = 0.0
    trust: str = ""
    valid_from: datetime | None = None
    """Since when it was so."""
    valid_to: datetime | None = None
    sources: tuple[str, ...] = ()
    """The turns it rests on."""


@dataclass(frozen=True, slots=True)
class BlameTurn:
    """A turn that a note rests on."""

    source: str
    speaker: str
    at: datetime | None
    text: str
    """What was said; empty where the turn is gone."""
    path: str
    line: int
    rel: str
    """supports, contradicts or updates."""
    verified: bool
    """Whether the quoted words stand in the turn now."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a field said before."""

    says: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class CopyKnew:
    """What one copy of the memory knew of a line, as far as its commits have come here."""

    copy: str
    name: str
    """``here``, the name of its folder on this machine, or empty."""
    has: bool
    """Whether it has what the line says now."""
    commit: str
    """Its first commit that has it, else its last one."""
    version: int
    at: datetime
    """When that was known."""
    says: str = ""
    """What it said instead, where it lacks it; empty where that was nothing."""


@dataclass(frozen=True, slots=True)
class Since:
    """What became of a note after the point it was blamed at."""

    change: str
    """superseded, archived and the like, ``changed`` or ``removed``."""
    at: datetime
    """When that was known."""
    says: str = ""
    """What is said instead; empty where nothing is."""
    note: str = ""
    """The note that says so."""


@dataclass(frozen=True, slots=True)
class BlameLine:
    """A line of a file, or a field of a note, and where it comes from."""

    path: str
    line: int
    """0 where a field was asked for."""
    text: str
    note: str
    """Id of the note it belongs to; empty for a file that is no note."""
    field: str
    """Of the note, such as value; empty for a line as it stands in its file."""
    cause: Cause | None
    """The commit since which it says so; None where it is not committed yet."""
    turns: tuple[BlameTurn, ...] = ()
    before: tuple[Earlier, ...] = ()
    """What the field said earlier, newest first."""
    copies: tuple[CopyKnew, ...] = ()
    """Which copies have it, where that was asked for."""
    now: Since | None = None
    """What became of it; None where it still counts and says the same."""
    signer: str = ""
    """Whose signature the commit has since which it says so, of those that are known."""


@dataclass(frozen=True, slots=True)
class BeliefChange:
    """How one belief differs between two points."""

    change: str
    """learned, changed, surer, disputed, let go and the like."""
    note: str
    key: str
    old: str
    """What it said; empty where it was not there."""
    new: str
    old_confidence: float = 0.0
    new_confidence: float = 0.0
    project: str = ""
    replaces: tuple[str, ...] = ()
    """The cards in whose place it came."""
    cause: Cause | None = None
    """The last commit that changed it, where that was asked for."""


@dataclass(frozen=True, slots=True)
class BeliefDiff:
    """How the beliefs of two points differ."""

    changes: tuple[BeliefChange, ...]
    forgotten: int
    """Beliefs that were there and that a person asked to forget; no words of them are shown."""
    total: int
    """Beliefs there are at the later point, or at the last commit before the files now."""
