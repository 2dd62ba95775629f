"""A tombstone: a value that must not come back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One line of ``mid-term/tombstones.jsonl``."""

    scope: str
    """``memory``, or ``project:<name>``, ``agent:<name>``."""
    key: str
    """The card key, empty when the value is barred under any key."""
    value: str
    """Normalised value, or its hash when `hashed`; empty bars the whole key."""
    at: datetime
    by: str
    why: str = ""
    hashed: bool = False
