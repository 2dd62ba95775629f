"""Values of what a person asks of a memory: commits, what waits for a word, what shall go."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from kimi_memory.domain.job import digest
from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the history."""

    hash: str
    at: datetime
    subject: str
    author: str
    trailers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """A turn that something rests on."""

    session: str
    n: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits for a person's word."""

    id: str
    path: str
    title: str
    target: str
    """Path of what would change."""
    section: str
    text: str
    reason: str
    created: datetime
    diff: str
    """What accepting it would do."""
    problem: str = ""
    """Why it cannot be accepted as it is."""
    evidence: tuple[Said, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A digest of what a person decides about; another one once its words are others."""
        # Of all its words: an agent could put others of their length there while they are read.
        said = (self.path, self.title, self.target, self.section, self.text)
        return digest("\0".join(said).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person wants forgotten: a note, a key, a session, words, or a time."""

    note: str = ""
    """Id of a card or event, or a unique prefix."""
    key: str = ""
    session: str = ""
    """Id of a session, or a unique prefix; its continuations are named one by one."""
    query: str = ""
    """Words; everything that says them goes, however they are typed."""
    since: datetime | None = None
    """With `until`: all that rests on what was said from this moment on …"""
    until: datetime | None = None
    """… and before this one."""
    why: str = ""
    hashed: bool = False
    """Whether the tombstone holds only the hash of the value."""

    @property
    def subject(self) -> str:
        """The request in a few words."""
        if self.since or self.until:
            return " to ".join(f"{at:%Y-%m-%d %H:%M}" if at else "…" for at in self._span)
        words = "words that are kept as a hash" if self.hashed else repr(self.query)
        return self.note or self.key or self.session or f"what says {words}"

    # Words, a session or a span may mean any number of notes, so they are shown before they go.
    @property
    def broad(self) -> bool:
        """Whether it may take more than a person has in mind."""
        return not (self.note or self.key)

    @property
    def _span(self) -> tuple[datetime | None, datetime | None]:
        return self.since, self.until
