"""Correcting a card: a person says what is so instead."""

from __future__ import annotations

from collections.abc import Iterable

from kimi_memory.domain.note import Card, Status
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.pages import Dispute
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.resolve_conflict import Choice, Resolve

_HELD = (Status.ACTIVE, Status.STALE)


class Correct(Resolve):
    """Plans a card that a person stands for, in place of one that holds.

    Args:
        context: the memory.
        id: of the card.
        value: what is so instead.

    Raises:
        UsageError: nothing is said.
    """

    kind = "correct"

    def __init__(self, context: JobContext, id: str, value: str) -> None:
        super().__init__(context, id, Choice(value=value))

    def _find_dispute(self, cards: Iterable[Card]) -> Dispute:
        card = next((one for one in cards if one.id == self._name), None)
        if card is None:
            raise NotFoundError("card", self._name)
        if card.status not in _HELD:
            raise UsageError(f"{card.id} is {card.status}. Correct one that holds.")
        if " ".join(card.value.split()) == " ".join(self._choice.value.split()):
            raise UsageError("It says so already. Write what is so instead.")
        # As a dispute of one side with a value of the person's own: neither is right, but this.
        return Dispute(card.key, (card,))
