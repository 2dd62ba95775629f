"""Cards that have expired leave memory.

Why it exists: some of what is told holds for a while and is of no use afterwards (a door
code, a hotel room). A card with `expires` is archived by the first daily job past that
moment; recall leaves it out from the moment on.
"""

from __future__ import annotations

from dataclasses import replace

from kimi_memory import hookimpl
from kimi_memory.model.head import Cards, Head
from kimi_memory.model.job import Op
from kimi_memory.model.note import Status
from kimi_memory.model.step import DayView, Step


@hookimpl
def consolidate_day(day: DayView) -> list[Step]:
    """Archive the cards whose time has come."""
    return [
        Step(
            Op.ARCHIVE,
            replace(card, status=Status.ARCHIVED, updated=day.now),
            f"expired on {card.expires:%Y-%m-%d}",
        )
        for card in Cards.of(day.cards).where(lambda head: _is_past(head, day))
    ]


def _is_past(head: Head, day: DayView) -> bool:
    return head.expires is not None and head.expires <= day.now
