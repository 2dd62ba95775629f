"""Resolving a dispute by a person's choice: one side, another value, or both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Op, Plan, Step, digest_of
from kimi_memory.domain.note import Card, Lang, LinkRel, Origin, Rel, Source, Status
from kimi_memory.errors import AmbiguousIdError, NotFoundError, UsageError
from kimi_memory.jobs.manual_edits import Hand
from kimi_memory.jobs.pages import Dispute, Pages, disputes, open_disputes
from kimi_memory.jobs.planner import JobContext
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.store.notes.notes import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person says about a dispute: exactly one of keep, value and both."""

    keep: str = ""
    """Id of the side that is right, or its beginning or end."""
    value: str = ""
    """What is so instead of either."""
    both: bool = False
    since: datetime | None = None
    """With both: the newer side holds from then on, the older one until then."""

    def check(self) -> None:
        """Raise UsageError unless it is one choice."""
        if sum(map(bool, (self.keep, self.value.strip(), self.both))) != 1:
            raise UsageError("Choose one: --keep ID, --value TEXT, or --both.")
        if self.since and not self.both:
            raise UsageError("A moment parts the two sides, so it goes with --both.")


class Resolve:
    """Plans what a choice does to the sides of a dispute.

    Args:
        context: the memory.
        name: key of the dispute, or the id of a side or its beginning.
        choice: what the person says.

    Raises:
        UsageError: not exactly one choice is made.
    """

    kind = "resolve"

    def __init__(self, context: JobContext, name: str, choice: Choice) -> None:
        choice.check()
        self._store, self._settings = context.store, context.settings
        self._now, self._name = context.clock(), name
        self._choice = replace(choice, value=context.mask_secrets(choice.value))

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are.

        Raises:
            NotFoundError: there is no such dispute, or no such side.
        """
        choice = self._choice
        cards = [f.note for f in shelf.notes("card") if isinstance(f.note, Card)]
        dispute = self._find_dispute(cards)
        hand = Hand(self._now, f"{self._now} {self.kind} {dispute.key}", self._store.exists)
        steps = tuple(self._plan_steps(dispute, choice, hand))
        new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
        after = {card.id: card for card in cards} | new
        pages, left_out = Pages(self._store, shelf, self._settings).changes(after.values())
        # With the state of each side: the same choice over sides that changed since is another job.
        marks = (f"{card.id} {card.status} {card.updated.isoformat()}" for card in dispute.sides)
        return Plan(
            kind=self.kind,
            subject=dispute.key,
            inputs=digest_of([self.kind, self._now.isoformat(), *marks]),
            steps=steps,
            changes=(*hand.changes(), *pages),
            left_out=tuple(left_out),
            asked=True,
        )

    def _find_dispute(self, cards: Iterable[Card]) -> Dispute:
        return find(disputes(cards), self._name)

    def _plan_steps(self, dispute: Dispute, choice: Choice, hand: Hand) -> list[Step]:
        if choice.both:
            return self._accept_both(dispute, choice.since)
        if choice.value:
            said = self._build_other_card(dispute, choice.value.strip())
            won = hand.proved(said, said.value, dispute.path)
            why = "a person says what is so"
            lost = list(dispute.sides)
        else:
            won, why = side(dispute, choice.keep), "a person chose it"
            lost = [card for card in dispute.sides if card.id != won.id]
        fresh = self._confirm_card(weighed(won, lost, self._now), choice)
        steps = [Step(Op.REFINE if choice.keep else Op.ADD, fresh, why)]
        return [*steps, *(self._supersede_card(card, self._now, won.id) for card in lost)]

    def _accept_both(self, dispute: Dispute, since: datetime | None) -> list[Step]:
        *older, newest = (self._confirm_card(card, None) for card in dispute.sides)
        # Both are so, each in a way of its own: nothing ends.
        if since is None:
            return [Step(Op.REFINE, card, "a person says both are so") for card in (*older, newest)]
        ids = tuple(dict.fromkeys((*newest.supersedes, *(card.id for card in older))))
        newest = replace(newest, valid_from=since, supersedes=ids)
        step = Step(Op.REFINE, newest, f"so since {since:%Y-%m-%d}, a person says")
        return [step, *(self._supersede_card(card, since, newest.id) for card in older)]

    def _confirm_card(self, card: Card, choice: Choice | None) -> Card:
        """Return a card that a person stands for."""
        links = tuple(link for link in card.links if link.rel is not LinkRel.CONTRADICTS)
        card = replace(
            card,
            status=Status.ACTIVE,
            links=links,
            verified=self._now,
            updated=self._now,
            trust=Origin.HUMAN,
        )
        # Of two that are both so the person chose neither: each keeps its own confidence.
        return replace(card, confidence=1.0) if choice else card

    def _supersede_card(self, card: Card, until: datetime, by: str) -> Step:
        links = tuple(link for link in card.links if link.rel is not LinkRel.CONTRADICTS)
        old = replace(
            card, status=Status.SUPERSEDED, valid_to=until, updated=self._now, links=links
        )
        return Step(Op.SUPERSEDE, old, f"a person decided for {by}")

    def _build_other_card(self, dispute: Dispute, value: str) -> Card:
        # The latest side lends its key, type and project; its evidence speaks for another value.
        last = dispute.sides[-1]
        return replace(
            last,
            id=derived_id("card", self._now, *(card.id for card in dispute.sides), value),
            created=self._now,
            title=value[:60],
            value=value,
            lang=Lang(language_of(value)),
            valid_from=self._now,
            valid_to=None,
            sources=(),
            quotes=(),
            links=(),
            supersedes=(),
        )


def conflicts(context: JobContext) -> list[Dispute]:
    """Return what waits for a choice, each with all of its sides."""
    return open_disputes(Shelf(context.store))


def weighed(won: Card, lost: Iterable[Card], now: datetime) -> Card:
    """Return the side that won with the evidence of the others, as speaking against it.

    What was weighed once must not open the dispute again when its turns are read anew.
    """
    sources, quotes, ids = list(won.sources), list(won.quotes), list(won.supersedes)
    for card in lost:
        new = [quote for quote in card.quotes if quote not in quotes]
        sources += [Source.from_quote(quote, Rel.CONTRADICTS) for quote in new]
        quotes += new
        ids.append(card.id)
    return replace(
        won,
        sources=tuple(sources),
        quotes=tuple(quotes),
        supersedes=tuple(dict.fromkeys(ids)),
        updated=now,
    )


def find(open_ones: Iterable[Dispute], name: str) -> Dispute:
    """Return the dispute of a key, or the one with a side whose id begins with these letters.

    Raises:
        NotFoundError: there is none.
        AmbiguousIdError: several fit.
    """
    fits = [
        one
        for one in open_ones
        if name == one.key or any(name and card.id.startswith(name) for card in one.sides)
    ]
    if len(fits) > 1:
        raise AmbiguousIdError(name, [one.sides[0].id for one in fits])
    if not fits:
        raise NotFoundError("conflict", name)
    return fits[0]


def side(dispute: Dispute, id: str) -> Card:
    """Return the side of an id, also by its beginning or its end.

    Raises:
        NotFoundError: no side has that id.
        AmbiguousIdError: several fit.
    """
    exact = [card for card in dispute.sides if card.id == id]
    fits = exact or [c for c in dispute.sides if c.id.startswith(id) or c.id.endswith(id)]
    if len(fits) > 1:
        raise AmbiguousIdError(id, [card.id for card in fits])
    if not fits:
        raise NotFoundError(f"side of the conflict about {dispute.key}", id)
    return fits[0]
