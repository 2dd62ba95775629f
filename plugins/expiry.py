"""Cards whose time is over leave what is held to be so.

Why it exists: some of what is told holds for a while and is of no use afterwards (a door
code, a hotel room). A card with `expires` is archived by the first daily job past that
moment; recall leaves it out from the moment on. What was said to hold "until June" was so
until then: it is superseded at its `valid_to`, by nothing.
"""

from __future__ import annotations

from dataclasses import replace

from kimi_memory import hookimpl
from kimi_memory.model.card import Card
from kimi_memory.model.head import Cards, Head
from kimi_memory.model.job import Op
from kimi_memory.model.status import Status
from kimi_memory.model.step import DayView, Step

_HELD = frozenset({Status.ACTIVE, Status.STALE, Status.CANDIDATE})


@hookimpl
def consolidate_day(day: DayView) -> list[Step]:
    """Archive the cards that expired, supersede those that held until now."""
    cards = Cards.of(day.cards)
    return [
        *(_archived(card, day) for card in cards.where(lambda head: _is_past(head, day))),
        *(_ended(card, day) for card in cards.where(lambda head: _has_ended(head, day))),
    ]


def _archived(card: Card, day: DayView) -> Step:
    gone = replace(card, status=Status.ARCHIVED, updated=day.now)
    return Step(Op.ARCHIVE, gone, f"expired on {card.expires:%Y-%m-%d}")


def _ended(card: Card, day: DayView) -> Step:
    old = replace(card, status=Status.SUPERSEDED, updated=day.now)
    return Step(Op.SUPERSEDE, old, f"was said to hold until {card.valid_to:%Y-%m-%d}")


def _is_past(head: Head, day: DayView) -> bool:
    return head.expires is not None and head.expires <= day.now


def _has_ended(head: Head, day: DayView) -> bool:
    """Whether a card held until now; of a conflict a person decides."""
    ended = head.valid_to is not None and head.valid_to <= day.now
    return ended and head.status in _HELD and not _is_past(head, day)
