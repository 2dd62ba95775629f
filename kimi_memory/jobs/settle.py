"""Settling a merge: what two copies say of one thing is judged as if one of them had heard both.

Rules only, and the time of the merge instead of a clock: copies that settle the same merge write
the same cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

from kimi_memory.domain.job import Op, Plan, Step, Verdict, digest_of
from kimi_memory.domain.note import LIVE, Card, Quote, Status
from kimi_memory.formats.card_form import Head
from kimi_memory.jobs.gates import TombstoneGate, let_go
from kimi_memory.jobs.matching import disputed
from kimi_memory.jobs.merge import Pair, archived, draft_from_card, merged, ranked
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.planner import JobContext
from kimi_memory.merge.statements import VARIANT
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.rules.relations import repeats_claim
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf, read_tombstones

_OPEN = (Status.ACTIVE, Status.STALE, Status.CANDIDATE)
_TOLD = "two copies say otherwise"


class Brought(NamedTuple):
    """What a merge, or a person's word on it, let in."""

    name: str
    """Tells it from others: the parents of the merge."""
    at: datetime
    paths: frozenset[str]
    """Files that changed here."""


class Settle:
    """Plans what becomes of cards that copies wrote apart from each other.

    Args:
        context: the memory.
        brought: what is new here. What of it waits for a person's word is left alone.
    """

    kind = "merge"

    def __init__(self, context: JobContext, brought: Brought) -> None:
        self._store, self._settings, self._host = context.store, context.settings, context.host
        self._brought = brought

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        paths = self._brought.paths
        came = [one for one in shelf.entries().values() if one.kind == "card" and one.path in paths]
        # The usual case: all that came waits for a person, and no card is read.
        if TOMBSTONES not in paths and all(shelf.survey.waits(one.path) for one in came):
            return Plan(kind=self.kind, subject=self._brought.name[:24], inputs="")
        heads, places = shelf.heads(), {one.id: one.path for one in shelf.entries().values()}
        # What waits disputes nothing: a stranger who pushes would decide what a person doubts.
        sure = [head for head in heads if not shelf.survey.waits(places[head.id])]
        new = {head.id for head in sure if places[head.id] in paths}
        slots = {_slot_of(head) for head in sure if head.id in new}
        # New tombstones bear on every card, those from before only on cards that are new here.
        whole = TOMBSTONES in paths
        near = (head for head in sure if whole or head.id in new or _slot_of(head) in slots)
        self._cards = {head.id: shelf.card(head) for head in near}
        self._steps = dict[str, Step]()
        self._drop_forgotten(self._cards if whole else new)
        for first, second in _pair_cards(self._cards.values(), new):
            self._judge_pair(first, second)
        # A merge that leaves nothing to settle must not make a job of pages alone.
        known = [self._cards.get(head.id, head) for head in heads] if self._steps else []
        render = Pages(self._store, shelf, self._settings)
        pages, left_out = render.changes(known) if self._steps else ([], [])
        return Plan(
            kind=self.kind,
            subject=self._brought.name[:24],
            inputs=digest_of([self.kind, self._brought.name]),
            # The merge is published: each card it brought may need one here to be changed, too.
            room=2 * len(paths),
            steps=tuple(self._steps.values()),
            changes=tuple(pages),
            left_out=tuple(left_out),
        )

    def _drop_forgotten(self, ids: Iterable[str]) -> None:
        """Archive what one copy was asked to forget, and the other says, under whatever key."""
        gate = TombstoneGate(read_tombstones(self._store))
        for id in sorted(ids):
            card = self._cards[id]
            if card.status in LIVE and gate.note(card):
                gone = let_go(card, _statement_time(card), self._brought.at)
                self._put(Op.FORGET, gone, "it was forgotten on purpose")

    def _judge_pair(self, first: str, second: str) -> None:
        """Judge the later of two cards as a statement that was heard after the earlier one."""
        for card, variant in ((first, second), (second, first)):
            if any(
                link.to == card and link.reason == VARIANT for link in self._cards[variant].links
            ):
                self._move_evidence(self._cards[card], self._cards[variant])
        # By time, not by whose copy it is: every copy has to come to the same end.
        older, younger = sorted((self._cards[first], self._cards[second]), key=_statement_order)
        if not {older.status, younger.status} <= {*_OPEN, Status.CONFLICTED}:
            return
        verdict: Verdict | None = self._host.answer(
            "judge_conflict", card=older, draft=draft_from_card(younger, self._brought.at)
        )
        if verdict is Verdict.AGREES and {older.status, younger.status} <= {*_OPEN}:
            self._unite_cards(Pair(older, younger, 1.0))
        elif verdict in {Verdict.REFINES, Verdict.REPLACES, Verdict.CONFLICTS}:
            self._oppose_cards(verdict, older, younger)

    def _oppose_cards(self, verdict: Verdict, older: Card, younger: Card) -> None:
        # Nobody said which of two versions of one card came later.
        apart = _statement_time(older) != _statement_time(younger)
        if younger.trust.rank > older.trust.rank:
            if younger.status is not Status.CANDIDATE:
                waits = replace(younger, status=Status.CANDIDATE, updated=self._brought.at)
                self._put(Op.REFINE, waits, f"{older.id} is trusted more")
        elif verdict is Verdict.CONFLICTS or not apart:
            for one, other in ((older, younger), (younger, older)):
                links = tuple(link for link in one.links if link.to != other.id)
                plain = replace(one, links=links)
                self._put(Op.CONFLICT, disputed(plain, other, _TOLD, self._brought.at), _TOLD)
        else:
            self._replace_card(older, younger)

    def _replace_card(self, older: Card, younger: Card) -> None:
        since = _statement_time(younger)
        gone = replace(older, status=Status.SUPERSEDED, valid_to=since, updated=self._brought.at)
        self._put(Op.SUPERSEDE, gone, f"replaced on {since:%Y-%m-%d} by {younger.id}")
        ids = tuple(dict.fromkeys((*younger.supersedes, older.id)))
        fresh = replace(younger, supersedes=ids, updated=self._brought.at)
        self._put(Op.REFINE, fresh, f"replaces {older.id}")

    def _unite_cards(self, pair: Pair) -> None:
        keeper, other = ranked(pair)
        whole = merged(keeper, other, self._brought.at)
        self._put(Op.MERGE, whole, f"takes in {other.id}: another copy said the same")
        gone = archived(other, keeper, self._brought.at)
        self._put(Op.MERGE, gone, f"merged into {keeper.id}")

    def _move_evidence(self, card: Card, variant: Card) -> None:
        """Give a card that keeps the words of another copy the quotes that say so."""
        moving = [
            quote for quote in card.quotes if _proves(quote, variant) and not _proves(quote, card)
        ]
        if variant.quotes or not moving:
            return
        places = {(quote.session, quote.hash) for quote in moving}
        told = tuple(s for s in card.sources if (s.session, s.quote) in places)
        new = replace(variant, quotes=tuple(moving), sources=told, updated=self._brought.at)
        quotes = tuple(quote for quote in card.quotes if quote not in moving)
        sources = tuple(source for source in card.sources if source not in told)
        rest = replace(card, quotes=quotes, sources=sources, updated=self._brought.at)
        self._put(Op.REFINE, new, f"its words stand in evidence of {card.id}")
        self._put(Op.REFINE, rest, f"evidence that says otherwise went to {variant.id}")

    def _put(self, op: Op, card: Card, why: str) -> None:
        self._cards[card.id] = card
        self._steps[card.id] = Step(op, card, why)


def _pair_cards(cards: Iterable[Card], new: set[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of live cards of one slot, one of them new here, in the same order on each copy.

    Two that are disputed wait for a person already; one of them may be older news than a card
    that the other copy had meanwhile.
    """
    slots: dict[tuple[str, str, str], list[Card]] = {}
    for card in sorted(cards, key=_statement_order):
        if card.key and card.status in (*_OPEN, Status.CONFLICTED):
            slots.setdefault(_slot_of(card), []).append(card)
    for slot in slots.values():
        for first, second in combinations(slot, 2):
            waits = first.status is second.status is Status.CONFLICTED
            if not waits and not new.isdisjoint((first.id, second.id)):
                yield first.id, second.id


def _slot_of(card: Card | Head) -> tuple[str, str, str]:
    return card.key, card.project, card.scope


def _statement_time(card: Card) -> datetime:
    return card.valid_from or card.created


def _statement_order(card: Card) -> tuple[datetime, str]:
    return _statement_time(card), card.id


def _proves(quote: Quote, card: Card) -> bool:
    text, said = normalise(quote.text), normalise(card.value)
    return said in text or repeats_claim(quote.text, card.value)
