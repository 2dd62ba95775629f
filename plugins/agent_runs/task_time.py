"""When a task has to be done, and how long it takes: as a person writes it."""

from __future__ import annotations

import math
from datetime import datetime

from kimi_memory.errors import UsageError


def parse_deadline(text: str) -> datetime | None:
    """Return the moment of a deadline; None where there is none.

    Raises:
        UsageError: it is no moment.
    """
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        raise UsageError(f"{text!r} is no time. Write 2026-11-28T18:00+08:00.") from None
    # Without a zone it is that of this machine.
    return found.astimezone() if found else None


def check_expected(seconds: float) -> float:
    """Return how long a task is expected to take.

    Raises:
        UsageError: nothing takes so long.
    """
    if not (math.isfinite(seconds) and seconds >= 0):
        raise UsageError(f"--expected is {seconds:g}. Give the seconds that it should take.")
    return seconds
