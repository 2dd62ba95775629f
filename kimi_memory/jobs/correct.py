"""Correcting a card: a person says what is so instead, or what sort of thing it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, CardType, Status
from kimi_memory.domain.session import AREAS
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.manual_edits import Hand
from kimi_memory.jobs.pages import Dispute
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.rename import check_key
from kimi_memory.jobs.resolve_conflict import Choice, Resolve
from kimi_memory.lazy_dataclass import dataclass

EDITABLE = (Status.ACTIVE, Status.STALE, Status.SUPERSEDED)
"""States that a person sets. The others have ways of their own: review, conflicts, forget."""
_HELD = (Status.ACTIVE, Status.STALE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFields:
    """What a person may set of a card beside its words."""

    type: CardType
    key: str
    project: str
    scope: str
    """Whose it is, as ``user:林夏`` or ``agent:小K``; everybody's if empty."""
    tags: tuple[str, ...]
    confidence: float
    status: Status
    valid_from: datetime | None
    valid_to: datetime | None

    @classmethod
    def of(cls, card: Card) -> CardFields:
        """Return the fields of a card as they are."""
        return cls(**{name: getattr(card, name) for name in cls.__dataclass_fields__})

    def changes(self, card: Card) -> dict[str, object]:
        """Return what is otherwise than in a card, by name."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in fields.items() if value != getattr(card, name)}

    def check(self) -> None:
        """Raise UsageError where a field cannot be so."""
        if self.status not in EDITABLE:
            raise UsageError(f"A person sets no card {self.status}. Choose {_listed(EDITABLE)}.")
        area, _, name = self.scope.partition(":")
        if self.scope and (area not in AREAS or not name.strip()):
            raise UsageError(
                f"{self.scope[:60]!r} says not whose it is. Write user:NAME or agent:NAME, or "
                "nothing where it is everybody's."
            )
        if not 0 <= self.confidence <= 1:
            raise UsageError(f"How sure it is goes from 0 to 1; {self.confidence:g} does not.")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise UsageError("It ends before it begins. Give a later end, or none.")


class Correct(Resolve):
    """Plans that a card says something else, or has other fields.

    Other words make a card that a person stands for, in place of the one that holds. Other fields
    alone change the card where it is: its words, its proof and its trust stay.

    Args:
        context: the memory.
        id: of the card.
        value: what is so instead; the words of the card where they stay.
        fields: what else is so; None leaves all fields.

    Raises:
        UsageError: nothing is said, or a field cannot be so.
    """

    kind = "correct"

    def __init__(
        self, context: JobContext, id: str, value: str, fields: CardFields | None = None
    ) -> None:
        super().__init__(context, id, Choice(value=value))
        self._fields = fields and _mask_fields(context, fields)
        if self._fields:
            self._fields.check()

    def _find_dispute(self, cards: Iterable[Card]) -> Dispute:
        known = list(cards)
        card = next((one for one in known if one.id == self._name), None)
        if card is None:
            raise NotFoundError("card", self._name)
        if card.status not in (EDITABLE if self._fields else _HELD):
            raise UsageError(f"The card {card.id} is {card.status}. Correct one that holds.")
        says = self._says_otherwise(card)
        if says and card.status not in _HELD:
            raise UsageError(
                f"The card {card.id} is {card.status}. Its words stay as they were said."
            )
        changed = self._changes(card)
        if not says and not changed:
            raise UsageError("It says so already. Write what is so instead.")
        self._check_free(card, changed, known)
        # As a dispute of one side with a value of the person's own: neither is right, but this.
        return Dispute(card.key, (card,))

    def _plan_steps(self, dispute: Dispute, choice: Choice, hand: Hand) -> list[Step]:
        [card] = dispute.sides
        changed = self._changes(card)
        if not self._says_otherwise(card):
            said = replace(card, **changed, updated=self._now)  # type: ignore[arg-type]  # by name
            return [Step(Op.REFINE, said, f"a person set {', '.join(changed)}")]
        first, *rest = super()._plan_steps(dispute, choice, hand)
        note = replace(first.note, **changed)  # type: ignore[arg-type]  # by name
        return [replace(first, note=note), *rest]

    def _says_otherwise(self, card: Card) -> bool:
        return " ".join(card.value.split()) != " ".join(self._choice.value.split())

    def _changes(self, card: Card) -> dict[str, object]:
        """Return what becomes otherwise beside the words; an end goes with its state."""
        changed = self._fields.changes(card) if self._fields else {}
        status = changed.get("status", card.status)
        if status != card.status and "valid_to" not in changed:
            if status is Status.SUPERSEDED and card.valid_to is None:
                changed["valid_to"] = self._now
            elif card.status is Status.SUPERSEDED and card.valid_to is not None:
                changed["valid_to"] = None
        if status is Status.ACTIVE and status != card.status:
            changed["verified"] = self._now
        return changed

    def _check_free(self, card: Card, changed: Mapping[str, object], cards: Iterable[Card]) -> None:
        """Refuse that a card comes beside another one that holds under its key."""
        comes_back = card.status is Status.SUPERSEDED and "status" in changed
        if "key" not in changed and not comes_back:
            return
        key = str(changed.get("key", card.key))
        if key != card.key:
            check_key(key)
        for other in cards:
            if other.id != card.id and other.key == key and other.status in LIVE:
                # What both say could contradict each other, and nobody has decided that.
                raise UsageError(
                    f"{key} is the key of {other.id} already. Choose another one, or correct "
                    "that card."
                )


def _mask_fields(context: JobContext, fields: CardFields) -> CardFields:
    mask = context.mask_secrets
    return replace(
        fields,
        key=mask(fields.key),
        project=" ".join(mask(fields.project).split()),
        scope=" ".join(mask(fields.scope).split()),
        tags=tuple(dict.fromkeys(mask(tag) for tag in fields.tags)),
    )


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"
