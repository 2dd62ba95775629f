"""A digest: one page about a session, made of what was said in it, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from kimi_memory.domain.note import Note


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


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line: words of a turn, or of an offer and its answer.

    Text form: ``**who**: words #first-last``; `who` and `last` only where they say more.
    """

    part: Part
    text: str
    first: int = 0
    """Number of the turn quoted; 0 for a remark that a person wrote on the page."""
    last: int = 0
    """Number of the last turn quoted; that of `first` where it is one."""
    who: str = ""
    """Who said it, where that is not the one person who talks with an agent."""
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
    """Whose it is, see `kimi_memory.domain.scope`; everybody's if empty."""

    def part(self, part: Part) -> tuple[DigestLine, ...]:
        """Return the lines of one section, in the order of the session."""
        return tuple(line for line in self.lines if line.part is part)
