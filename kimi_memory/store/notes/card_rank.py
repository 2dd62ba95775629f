"""Which cards a brief may show, in which section, and which of them comes first."""

from __future__ import annotations

from kimi_memory.domain.brief import NAME, Section, rank_of, section_of
from kimi_memory.domain.note import CardType, Origin, Status
from kimi_memory.formats.card_form import Head
from kimi_memory.nlp.rules.constraints import forbids
from kimi_memory.nlp.rules.lasting import worth_of

DATES = "user.dates."
"""Keys of plans and events whose day was named begin so."""
AFTER_CARDS = 3.0
"""The rank of what comes after the cards of its section."""
_HELD = frozenset({Status.ACTIVE, Status.CONFLICTED})
_BEFORE_ALL = 10.0
"""The name of a person stands before all that is told of them."""
_FIRM = 0.5
"""What must never be done comes before other orders: missing it does harm."""


def is_shown(head: Head) -> bool:
    """Whether a card is held to be so, or is a person's own that waits for a word."""
    mine = head.status is Status.CANDIDATE and head.trust is Origin.HUMAN and not head.sourced
    return head.status in _HELD or mine or (head.status is Status.STALE and head.stands)


def card_section(head: Head) -> Section:
    """Return the section of a card."""
    unsure = head.status is Status.CANDIDATE
    return Section.UNSURE if unsure else section_of(head.type, head.key)


def card_rank(head: Head) -> tuple[float, ...]:
    """Return order, weight below zero, and age below zero; the least comes first."""
    rank = rank_of(head.type, head.confidence, head.importance, head.since.timestamp())
    if head.type is CardType.RULE and forbids(head.text):
        rank = (rank[0] - _FIRM, *rank[1:])
    if head.key.startswith(DATES):  # beside what sessions tell of the same people
        rank = (AFTER_CARDS, -worth_of(head.text), -head.since.timestamp())
    return (rank[0] - _BEFORE_ALL, *rank[1:]) if head.key == NAME else rank
