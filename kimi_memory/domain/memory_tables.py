"""Tables of ``memory.toml`` about what comes in and what leaves; bounds of all numbers there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

_SPAN = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_NEVER = "never"
_LEAST = {
    **{"recall.limit": 1, "capture.max_turn_bytes": 1024},
    **{"temperature.recency_days": 0.01, "temperature.frequency_cap": 1},
}
"""Less would find or keep nothing, or divide by zero; of other numbers 0 is the least."""
_MOST_DAYS, _MOST = 36_500, 10**12
"""A date more than a hundred years back leaves the calendar."""


class CaptureTable(NamedTuple):
    """``[capture]``"""

    auto: bool = True
    """Whether triggers may remember at once what a turn says is important."""
    limit: int = 3
    """At most so many auto-captured memories per exchange."""
    min_chars: int = 10
    """Shorter turns are not auto-captured; a Chinese character counts double."""
    max_chars: int = 500
    """Longer turns are not auto-captured, being pasted text; counted in the same way."""
    max_turn_bytes: int = 65536
    """A longer turn is cut here, with a mark that says how much."""
    agent_statements: Literal["review", "trust"] = "review"
    """What an agent asks to remember: left to review, or counts at once (trust), but rules."""


class IntrospectTable(NamedTuple):
    """``[introspect]``"""

    merge: float = 0.95
    """Cards more alike than this that claim the same are merged."""
    suggest: float = 0.7
    """Cards from this likeness on get a suggested link."""
    accept: float = 0.85
    """Suggested links from this weight on are confirmed by the weekly job."""
    forget_below: float = 0.1
    """Only cards colder than this are forgotten …"""
    forget_days: int = 90
    """… that were neither made, verified nor shown for so many days …"""
    forget_uses: int = 3
    """… and were shown less often than this."""
    keep_importance: float = 0.8
    """Cards from this importance on are never forgotten for being cold, nor are a person's
    orders, preferences, and what they said of themselves."""
    prune_days: int = 90
    """Unimportant events are archived after so many days."""
    prune_importance: float = 0.6
    """Events below this importance count as unimportant."""


class TtlTable(NamedTuple):
    """``[ttl]``: how long each kind is kept, such as ``90d``, ``12h`` or ``2w``"""

    conversation: str = _NEVER
    """What was said is found so long; later, only by a question that names the time."""
    knowledge: str = _NEVER
    """A card of a concept, pattern, gotcha, decision, fact, rule or thing expires after so long."""
    preference: str = _NEVER
    """A card of a preference expires after so long."""
    relationship: str = _NEVER
    """A card of a person or thing that links to others expires after so long."""
    context: str = "7d"
    """Task and variables of an open session are shown so long after its last turn."""
    todos: str = _NEVER
    """A card of something to do expires after so long."""
    skill_progress: str = "365d"
    """Runs of agents count for their skills so long."""
    purge_on_expiry: bool = False
    """Whether the words of an expired card are destroyed, a day after it was archived."""

    @property
    def spans(self) -> Mapping[str, timedelta | None]:
        """How long each kind is kept, None for ever; a value that is no time raises ValueError."""
        return {
            name: parse_span(text) for name, text in self._asdict().items() if isinstance(text, str)
        }

    def shown_from(self, now: datetime) -> datetime | None:
        """Return the moment before which a session was last heard whose state is not shown."""
        span = parse_span(self.context)
        return now - span if span else None


def parse_span(text: str) -> timedelta | None:
    """Return how long something is kept; None for ever.

    Raises:
        ValueError: it is no such time.
    """
    if text == _NEVER:
        return None
    found = _SPAN.fullmatch(text)
    if found is None or not int(found[1]):
        raise ValueError(f"{text!r} is no time")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def find_bounds(key: str, number: float) -> str:
    """Return between what a setting has to lie where a number of it does not; else nothing."""
    least = _LEAST.get(key, 0)
    most = _MOST_DAYS if key.endswith("_days") else _MOST
    # Of "nan" neither is true.
    return "" if least <= number <= most else f"Give a number from {least} to {most}"
