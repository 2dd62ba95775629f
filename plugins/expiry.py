"""Cards whose time is over leave what is held to be so.

Why it exists: some of what people say holds for a while and is of no use afterwards (a door
code, a hotel room). A card with `expires` is archived by the first daily job past that
moment; recall leaves it out from the moment on. What was said to hold "until June" was so
until then: it is superseded at its `valid_to`, by nothing. What left in that way while the
clock was ahead comes back once it is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kimi_memory import hookimpl
from kimi_memory.domain.job import DayView, Op, Step
from kimi_memory.domain.note import Card, Status
from kimi_memory.formats.card_form import Cards, Head

UNCONFIRMED = "unconfirmed"
"""The tag of a candidate that expired."""
_HELD = frozenset({Status.ACTIVE, Status.STALE, Status.CANDIDATE})


@hookimpl
def consolidate_day(day: DayView) -> list[Step]:
    """Archive the cards that expired, supersede those that held until now."""
    cards = Cards.of(day.cards)
    return [
        *_back_again(cards, day),
        *(_archive_card(card, day) for card in cards.where(lambda head: _is_past(head, day))),
        *(_supersede_card(card, day) for card in cards.where(lambda head: _has_ended(head, day))),
    ]


def _archive_card(card: Card, day: DayView) -> Step:
    gone = replace(_tag_candidate(card), status=Status.ARCHIVED, updated=day.now)
    return Step(Op.ARCHIVE, gone, f"expired on {card.expires:%Y-%m-%d}")


def _supersede_card(card: Card, day: DayView) -> Step:
    old = replace(_tag_candidate(card), status=Status.SUPERSEDED, updated=day.now)
    return Step(Op.SUPERSEDE, old, f"was said to hold until {card.valid_to:%Y-%m-%d}")


def _tag_candidate(card: Card) -> Card:
    """Return a card that says whether it was a candidate, for the case that it comes back."""
    candidate = card.status is Status.CANDIDATE and UNCONFIRMED not in card.tags
    return replace(card, tags=(*card.tags, UNCONFIRMED)) if candidate else card


def _back_again(cards: Cards, day: DayView) -> Iterator[Step]:
    """Take back what a clock that was ahead made an end of, once it is right again.

    A person who archives a card does so before it expires, and what was replaced has a
    successor under its key: neither comes back.
    """
    keys = {head.key for head in cards.heads if head.status in _HELD}
    for card in cards.where(lambda head: _left_early(head, day) and head.key not in keys):
        end = card.expires if card.status is Status.ARCHIVED else card.valid_to
        if end is not None and card.updated >= end > day.now:
            status = Status.CANDIDATE if UNCONFIRMED in card.tags else Status.ACTIVE
            tags = tuple(tag for tag in card.tags if tag != UNCONFIRMED)
            why = f"ended by a clock that showed {card.updated:%Y-%m-%d}"
            new = replace(card, status=status, tags=tags, updated=day.now)
            yield Step(Op.REFINE, new, why)


def _left_early(head: Head, day: DayView) -> bool:
    ends = {Status.ARCHIVED: head.expires, Status.SUPERSEDED: head.valid_to}
    end = ends.get(head.status)
    return end is not None and end > day.now


def _is_past(head: Head, day: DayView) -> bool:
    return head.expires is not None and head.expires <= day.now


def _has_ended(head: Head, day: DayView) -> bool:
    """Whether a card held until now; of a conflict a person decides."""
    ended = head.valid_to is not None and head.valid_to <= day.now
    return ended and head.status in _HELD and not _is_past(head, day)
