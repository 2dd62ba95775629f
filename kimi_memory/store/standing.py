"""What the content of a file counts for: a person's word, or something that waits for it."""

from __future__ import annotations

import os
from datetime import datetime
from typing import NamedTuple, Protocol

from kimi_memory.domain.change import digest
from kimi_memory.domain.note import Origin
from kimi_memory.store.wal.append_log import is_mark, mark_of
from kimi_memory.store.wal.contents import EXTERNAL
from kimi_memory.store.wal.entries import Entry
from kimi_memory.store.wal.last_records import Record

SETTINGS = "memory.toml"
_READABLE = "episodic/sessions/"
"""Pages beside sessions, for people: nothing is taken from them."""
WAITS = {f"{EXTERNAL}:{cap}": cap for cap in (Origin.AGENT, Origin.REMOTE)}
"""What the journal names as the origin of what waits, and the most that is trusted."""


class Standing(NamedTuple):
    """What the content of a file counts for."""

    cap: Origin | None = None
    """The most it is trusted; None for what does not wait for anybody."""
    why: str = ""
    vetted: str = ""
    """The content mark of the last version that did not wait."""
    passing: bool = False
    """Whether it may be judged otherwise in a moment."""


class Served(NamedTuple):
    """A file as agents and jobs get it."""

    content: bytes
    cap: Origin | None = None
    """The most it is trusted; None for a version that nobody has to confirm."""
    why: str = ""
    """Why it is another version than the one on disk, or only a candidate."""
    passing: bool = False
    """Whether it may be served otherwise in a moment."""
    candidate: bool = False
    """Whether it says of itself that it is a candidate, as a card does."""

    @property
    def usable(self) -> bytes:
        """What a job may take for a note: nothing of a file that waits and is no card."""
        return b"" if self.cap is not None and not self.candidate else self.content


class Waiting(NamedTuple):
    """A file that waits for a person's word."""

    path: str
    standing: Standing
    content: bytes
    at: datetime
    """When it was written."""


class Judge(Protocol):
    """What judges files that came from outside."""

    def served(self, path: str) -> Served:
        """Return a file as agents and jobs get it."""

    def standing(self, path: str, content: bytes) -> Standing:
        """Return what the content of a file counts for."""

    def came(self, path: str) -> bool:
        """Whether what stands in a file came from outside."""

    def entry(self, entry: Entry, content: bytes, look: os.stat_result) -> Entry:
        """Return a journal entry with the judgement of what it records."""

    def waiting(self, path: str) -> Waiting | None:
        """Return a file that waits for a person's word; None for one that does not."""

    def version(self, path: str, mark: str) -> bytes | None:
        """Return an earlier content of a file by its mark; None where nothing has it."""


def is_judged(path: str) -> bool:
    """Whether agents or jobs read a file for what it says."""
    if path.endswith(".md"):
        return not path.startswith(_READABLE)
    return path.endswith(".jsonl") or path == SETTINGS


def is_of(content: bytes, mark: str) -> bool:
    """Whether a content has a content mark."""
    return (mark_of(content) if is_mark(mark) else digest(content)) == mark


def recorded_standing(last: Record | None, content: bytes) -> Standing | None:
    """Return what a file counts for by its last record; None where that is of another content."""
    if last is None or not is_of(content, last.mark):
        return None
    cap = WAITS.get(last.origin)
    return Standing(cap, last.why, last.vetted) if cap else Standing()
