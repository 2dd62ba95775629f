"""A turn: one thing said in a session, by whom, when and how sure of its origin."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from kimi_memory.domain.origin import Origin, Role

if TYPE_CHECKING:
    from kimi_memory.domain.json_value import Json


MAX_SPEECH = 1500
"""A longer turn of a person is a paste or a template, not speech."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One screened turn as it stands in a session's JSONL file."""

    n: int
    """Position in its session, from 1."""
    at: datetime
    """When it was said, aware, in UTC."""
    role: Role
    text: str
    speaker: str = ""
    """A name where one is known, else empty."""
    origin: Origin = Origin.HUMAN
    importance: float = 0.5
    """0 to 1, by rules at capture."""
    tags: tuple[str, ...] = ()
    context: str = ""
    """First 12 hex digits of the SHA-256 chain over the turns before this one."""
    ref: str = ""
    """The host's own id of the message; the same ref is stored once per session."""
    masked: int = 0
    """How many secrets were masked in the text."""
    stripped: int = 0
    """How many characters were left out: blocks that programs put into prompts."""
    tool_calls: tuple[Json, ...] = field(default=(), hash=False)
    """What the turn had tools do, as its program wrote it; kept, and no part of what is said."""

    @property
    def by_person(self) -> bool:
        """Whether a person wrote the turn, not a program in a person's place."""
        return self.role is Role.USER and self.origin is Origin.HUMAN

    @property
    def is_speech(self) -> bool:
        """Whether a person said the turn, rather than pasted a text."""
        return self.by_person and len(self.text) <= MAX_SPEECH
