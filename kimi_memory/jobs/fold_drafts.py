"""Folding drafts into what is known, at once for what somebody asks to remember."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kimi_memory.domain.draft import Draft, statement_time
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Op, Plan, Step, Verdict, digest_of
from kimi_memory.domain.note import (
    LIVE,
    Card,
    CardType,
    Origin,
    Quote,
    Rel,
    Source,
    Status,
    least_trusted,
)
from kimi_memory.domain.pages import Event
from kimi_memory.formats.card_form import Head, says_open
from kimi_memory.hooks.host import Host
from kimi_memory.jobs import gates
from kimi_memory.jobs.gates import WHY, DraftGate, content_of, let_go, story_of
from kimi_memory.jobs.lifetimes import with_links
from kimi_memory.jobs.matching import (
    Matching,
    card_id,
    disputed,
    find_end_time,
    latest_live,
    new_card,
    read_again,
    rest_of,
    seed_of,
    suggest_link,
    with_evidence,
)
from kimi_memory.jobs.planner import JobContext
from kimi_memory.llm.usage import unasked
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.dates.vocabulary import Zone, pinned
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.tasks import finishes
from kimi_memory.nlp.rules.values import Relation, compare_statements, compare_values
from kimi_memory.store.notes.notes import Shelf, has_quotes, mark

_ORDER = (
    Verdict.AGREES,
    Verdict.REFINES,
    Verdict.REPLACES,
    Verdict.CONFLICTS,
    Verdict.UNRELATED,
)
"""Of the verdicts on several cards the first of these counts."""
_AGREEMENT = 0.3
_ENTROPY = 16
"""Letters of an id that tell what a note came from; those before tell the moment."""
_FIGURE = re.compile(r"\d+(?:[.:/-]\d+)*")


@dataclass(slots=True)
class Folded:
    """What folding drafts into notes has come to so far."""

    steps: list[Step] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    gone: tuple[Card, ...] = ()
    """Cards that a person took back in words."""


class Fold:
    """Decides for each draft what it does to the cards and events there are."""

    def __init__(
        self, shelf: Shelf, host: Host, gate: DraftGate, now: datetime, zone: Zone
    ) -> None:
        self._shelf, self._host, self._gate, self._now = shelf, host, gate, now
        self._zone = zone
        self._ops: dict[str, tuple[Op, str]] = {}
        self._events: dict[str, Step] = {}
        self._left_out: list[str] = []
        self._gone: dict[str, Card] = {}
        self._matching = Matching(shelf)
        self._cards = self._matching.fresh

    def add(self, draft: Draft, turn_text: Callable[[Quote], str | None]) -> None:
        """Fold one draft.

        Args:
            draft: the proposed knowledge.
            turn_text: gives the stored text of the turn a quote names, if there is one.
        """
        # Before anything else: what no stored turn proves does not count, from rules and models
        # alike.
        proven = tuple(q for q in draft.quotes if q.stands_in(turn_text(q) or ""))
        draft = replace(draft, quotes=proven, at=pinned(draft.at, self._zone))
        why_not = self._gate.objection(draft)
        if draft.gone:
            why_not = self._let_go(draft)
        elif draft.done and not why_not:
            why_not = self._finish_task(draft)
        if why_not:
            self._left_out.append(f"{draft.key}: {why_not}")
        if why_not or draft.gone or draft.done:
            return
        if draft.event is not None and not draft.weak:
            self._add_event(draft)
        self._add_card(draft)

    def replaces(self, draft: Draft) -> bool:
        """Whether a draft takes the place of a live card that names the same things."""
        return bool(self._find_replaced_cards(draft, ()))

    def changes_known(self, draft: Draft) -> bool:
        """Whether a draft gives another value to what is known under its own key."""
        live = latest_live(self._matching.cards(draft))
        return any(self._judge_card(card, draft, None) is Verdict.REPLACES for card in live)

    def add_past(self, old: Draft, draft: Draft) -> None:
        """Add what was so until a draft said otherwise, if the draft has become a card.

        Args:
            old: the earlier statement, with its evidence.
            draft: the folded draft that changes it.
        """
        said = set(map(mark, draft.quotes))
        live = (card for card in self._cards.values() if card.status in LIVE)
        new = next((card for card in live if said & set(map(mark, card.quotes))), None)
        past = replace(self._new_card(old), status=Status.SUPERSEDED, valid_to=draft.at)
        turns = {(quote.session, quote.n) for quote in old.quotes}
        ended = (card for card in self._cards.values() if card.status is Status.SUPERSEDED)
        known = any((q.session, q.n) in turns for card in ended for q in card.quotes)
        if new is None or known or past.id in self._shelf.entries() or self._gate.objection(old):
            return
        self._record_operation(Op.ADD, past, f"was so until {draft.at:%Y-%m-%d}")
        op, why = self._ops[new.id]
        self._record_operation(op, replace(new, supersedes=(*new.supersedes, past.id)), why)

    def result(self) -> Folded:
        """Return the steps decided so far, cards first."""
        steps = [Step(op, self._cards[id], why) for id, (op, why) in self._ops.items()]
        left_out, gone = list(self._left_out), tuple(self._gone.values())
        return Folded([*steps, *self._events.values()], left_out, gone)

    def _let_go(self, draft: Draft) -> str:
        """Archive what a person takes back; return the reason where nothing was archived."""
        if draft.origin is not Origin.HUMAN or not draft.quotes:
            # A web page that an agent read aloud could otherwise empty a memory.
            return "only a person's own words take something back"
        named = self._matching.named(draft)
        found = [c for c in named if c.status is not Status.ARCHIVED]
        found = [c for c in found if statement_time(c) <= draft.at and _is_meant(c, draft)]
        for card in found:
            self._gone[card.id] = let_go(card, draft.at, self._now)
            self._record_operation(Op.FORGET, self._gone[card.id], f"{WHY} on {draft.at:%Y-%m-%d}")
        return "" if found else "nothing is known of what it takes back"

    def _finish_task(self, draft: Draft) -> str:
        """End the one open task that is said to be done; returns why none was."""
        known = {head.id: head for head in self._shelf.heads()}
        known |= {card.id: Head.of(card) for card in self._cards.values()}
        found = [head.id for head in known.values() if _is_finished(head, draft)]
        # Ending the wrong task is worse than leaving one open.
        if len(found) != 1:
            return f"{len(found)} open tasks are called that"
        [id] = found
        card = self._cards.get(id) or self._shelf.file(self._shelf.find(id).path).note
        assert isinstance(card, Card)
        over = replace(self._with_evidence(card, draft, Rel.UPDATES), status=Status.SUPERSEDED)
        why = f"done, as was said on {draft.at:%Y-%m-%d}"
        self._record_operation(Op.SUPERSEDE, replace(over, valid_to=draft.at), why)
        for other in (head.id for head in known.values() if says_open(head, card)):
            told = self._cards.get(other) or self._shelf.file(self._shelf.find(other).path).note
            assert isinstance(told, Card)
            gone = replace(told, status=Status.SUPERSEDED, valid_to=draft.at, updated=self._now)
            self._record_operation(Op.SUPERSEDE, gone, f"it says that {card.id} is open")
        return ""

    def _add_event(self, draft: Draft) -> None:
        id = derived_id("event", draft.at, *seed_of(draft), str(draft.event))
        # The id comes from the words, so a session that is distilled again adds no second event.
        if id in self._shelf.entries() or draft.event is None:
            return
        event = Event(
            id=id,
            created=self._now,
            updated=self._now,
            tags=draft.tags,
            sources=tuple(map(Source.from_quote, draft.quotes)),
            lang=draft.lang,
            title=draft.title,
            type=draft.event,
            at=draft.at,
            participants=draft.participants,
            content=story_of(draft),
            outcome=draft.outcome,
            lesson=draft.lesson,
            quotes=draft.quotes,
            key=draft.key,
            importance=draft.importance,
            project=draft.project,
            scope=draft.scope,
        )
        self._events[id] = Step(Op.ADD, event, f"{draft.event} said on {draft.at:%Y-%m-%d}")

    def _add_card(self, draft: Draft) -> None:
        found = self._matching.cards(draft)
        own = next(filter(_match_own_words(draft), found), None)
        live = latest_live(found)
        if own is not None and own not in live[:1]:
            return  # These words made a card when they were captured; what became of it stands.
        # The same words once more prove nothing new.
        if held := [card for card in live if has_quotes(card, draft.quotes)]:
            self._read_again(held, draft)
            return
        if parts := [card for card in live if _is_part(card, draft)]:
            self._widen_card(parts, draft)
            return
        judged = [(self._judge_card(card, draft, own), card) for card in live]
        judged += self._find_replaced_cards(draft, live)
        # Agreement first: what one card says already must not dispute another.
        verdict, card = min(judged, key=lambda one: _ORDER.index(one[0]), default=(None, None))
        if card is None:
            self._record_operation(Op.ADD, self._new_card(draft), "new knowledge")
        elif verdict is Verdict.UNRELATED or (
            # Of two that nobody holds true yet neither disputes the other.
            draft.weak and card.status is Status.CANDIDATE and verdict is Verdict.CONFLICTS
        ):
            self._add_beside(draft, live)
        # An agent or a web page never overrules what a person said.
        elif draft.origin.rank > card.trust.rank and verdict is not Verdict.AGREES:
            self._left_out.append(f"{draft.key}: {draft.origin} words cannot change {card.id}")
        elif draft.weak and card.status is not Status.CANDIDATE and verdict is not Verdict.AGREES:
            self._left_out.append(f"{draft.key}: not said plainly enough to change {card.id}")
        else:
            replaced = [card for said, card in judged if said is Verdict.REPLACES]
            self._apply_verdict(verdict, card, draft, replaced)

    def _read_again(self, held: Sequence[Card], draft: Draft) -> None:
        for new in read_again(held, draft, self._now):
            self._record_operation(Op.REFINE, new, "read again with its session")

    def _find_replaced_cards(
        self, draft: Draft, beside: Sequence[Card]
    ) -> list[tuple[Verdict, Card]]:
        """Return the other cards whose place a draft takes."""
        known = {card.id for card in beside}
        meant = [card for card in self._matching.meant(draft) if card.id not in known]
        judged = ((self._judge_card(card, draft, None), card) for card in meant)
        return [(verdict, card) for verdict, card in judged if verdict is Verdict.REPLACES]

    def _judge_card(self, card: Card, draft: Draft, own: Card | None) -> Verdict:
        verdict = self._host.answer("judge_conflict", card=card, draft=draft)
        if card is own and verdict in {Verdict.REPLACES, Verdict.CONFLICTS}:
            return Verdict.REFINES  # Nothing replaces or disputes itself.
        return verdict or Verdict.UNRELATED

    def _apply_verdict(
        self, verdict: Verdict | None, card: Card, draft: Draft, replaced: Sequence[Card]
    ) -> None:
        since = card.valid_from or card.created
        match verdict:
            case Verdict.AGREES:
                self._corroborate_card(card, draft)
            case Verdict.REFINES:
                self._refine_card(card, draft)
            case Verdict.REPLACES | Verdict.CONFLICTS if draft.at < since:
                # An older transcript came in late: what it says was so before, not now.
                old = replace(self._new_card(draft), status=Status.SUPERSEDED, valid_to=since)
                # Kept as past: a question about that time has an answer, and today's value stands.
                self._record_operation(Op.ADD, old, f"was so until {since:%Y-%m-%d}")
            case Verdict.REPLACES:
                self._supersede_cards(replaced, draft)
            case _:
                self._record_conflict(card, draft)

    def _corroborate_card(self, card: Card, draft: Draft) -> None:
        new = self._with_evidence(card, draft, Rel.SUPPORTS)
        # Noisy-or: independent agreement leaves less room for doubt (Pearl 1988, 4.3.2).
        confidence = round(1 - (1 - card.confidence) * (1 - _AGREEMENT), 3)
        status = Status.ACTIVE if card.status is Status.STALE else card.status
        # However often a thing is said, it is never certain.
        new = replace(new, confidence=min(confidence, 0.99), status=status)
        if _waits_for_a_person(card) and draft.origin is Origin.HUMAN and not draft.weak:
            # A person now says it themselves: that confirms the card, in the person's own words.
            new = replace(new, status=Status.ACTIVE, trust=Origin.HUMAN)
            new = replace(new, value=content_of(draft), title=draft.title)
        self._record_operation(Op.CORROBORATE, new, f"said again on {draft.at:%Y-%m-%d}")

    def _refine_card(self, card: Card, draft: Draft) -> None:
        new = self._with_evidence(card, draft, Rel.UPDATES)
        newer = draft.at >= (card.verified or card.created)
        finer = compare_statements(card.value, draft.value) is Relation.FINER
        # "It is vim. No wait, it is emacs": a turn has one card, and its last word stands.
        last = self._host.answer("judge_conflict", card=card, draft=draft) is Verdict.REPLACES
        if newer and (finer or last):
            trust = least_trusted([card.trust, draft.origin])
            new = replace(new, value=content_of(draft), title=draft.title, trust=trust)
        self._record_operation(Op.REFINE, new, f"more detail from {draft.at:%Y-%m-%d}")

    def _widen_card(self, parts: Sequence[Card], draft: Draft) -> None:
        """Give what was kept at once of a turn the sentences around it, as one card."""
        card, *rest = parts
        new = replace(card, type=draft.type, value=content_of(draft), title=draft.title)
        sources = tuple(map(Source.from_quote, draft.quotes))
        new = replace(new, sources=sources, quotes=draft.quotes, updated=self._now)
        self._record_operation(Op.REFINE, new, "with the sentences around it")
        for other in rest:
            old = replace(other, status=Status.SUPERSEDED, valid_to=draft.at, updated=self._now)
            self._record_operation(Op.SUPERSEDE, old, f"stands in {card.id}")

    def _supersede_cards(self, cards: Sequence[Card], draft: Draft) -> None:
        fresh = self._new_card(draft)
        for card in cards:
            old = replace(card, status=Status.SUPERSEDED, valid_to=draft.at, updated=self._now)
            self._record_operation(
                Op.SUPERSEDE, old, f"replaced on {draft.at:%Y-%m-%d} by {fresh.id}"
            )
            if rest := rest_of(card, draft, self._now):
                self._record_operation(Op.ADD, rest, f"what {card.id} says besides")
        ids = tuple(card.id for card in cards)
        self._record_operation(Op.ADD, replace(fresh, supersedes=ids), f"replaces {', '.join(ids)}")

    def _record_conflict(self, card: Card, draft: Draft) -> None:
        fresh = self._new_card(draft)
        why = "one slot, incompatible values"
        old = disputed(card, fresh, why, self._now)
        self._record_operation(Op.CONFLICT, old, f"{fresh.id} says otherwise")
        self._record_operation(Op.ADD, disputed(fresh, card, why, self._now), f"against {card.id}")

    def _add_beside(self, draft: Draft, live: Sequence[Card]) -> None:
        """Add a card of its own for another matter, or for one more of many values."""
        links = [link for card in live if (link := suggest_link(card, draft)) is not None]
        if any(card.key == draft.key for card in live):
            key = f"{draft.key}.{normalise(draft.title).replace(' ', '-')[:40]}"
            draft = replace(draft, key=key if key != draft.key else f"{key}.more")
        if not any(card.scope == draft.scope for card in self._shelf.cards({draft.key})):
            fresh = replace(self._new_card(draft), links=tuple(links))
            self._record_operation(Op.ADD, fresh, "another matter")

    def _new_card(self, draft: Draft) -> Card:
        return new_card(draft, self._now, find_end_time(draft, self._zone))

    def _with_evidence(self, card: Card, draft: Draft, rel: Rel) -> Card:
        new = with_evidence(card, draft, rel, self._now)
        return replace(new, valid_to=find_end_time(draft, self._zone) or card.valid_to)

    def _record_operation(self, op: Op, card: Card, why: str) -> None:
        first, reason = self._ops.get(card.id, (op, why))
        self._matching.put(card)
        self._ops[card.id] = (first, reason) if first is Op.ADD else (op, why)


def _is_finished(head: Head, draft: Draft) -> bool:
    """Whether a draft says that an open task is done."""
    task = head.type is CardType.TASK_STATE and head.status in LIVE and head.since <= draft.at
    mine = (head.project, head.scope) == (draft.project, draft.scope)
    return task and mine and finishes(draft.value, head.text)


def _match_own_words(draft: Draft) -> Callable[[Card], bool]:
    """Return whether the words of a draft made a card, be it with fewer quotes or another key."""
    made, words = card_id(draft)[-_ENTROPY:], normalise(content_of(draft))

    def rests_on(card: Card) -> bool:
        # The end of the id is the same where only the moment of the last quote differs.
        own = normalise(card.value) == words and has_quotes(card, draft.quotes)
        return own or card.id[-_ENTROPY:] == made

    return rests_on


def _is_part(card: Card, draft: Draft) -> bool:
    """Whether a card says a part of what a draft quotes of the same turn."""
    if len(card.quotes) != 1 or len(draft.quotes) != 1 or card.trust is not draft.origin:
        return False
    if CardType.TASK_STATE in {card.type, draft.type}:
        return False  # One point of a list is done, another is not.
    (old,), (new,) = card.quotes, draft.quotes
    said, wide = normalise(card.value), normalise(draft.value)
    return (old.session, old.n) == (new.session, new.n) and said in wide and said != wide


def _is_meant(card: Card, draft: Draft) -> bool:
    """Whether a card says the value that is taken back, where one is named."""
    held, denied = slot_of(card.value), slot_of(draft.value)
    if held and denied and denied.denied:
        return compare_values(held.value, denied.value) not in (Relation.OTHER, Relation.VALUE)
    named = set(_FIGURE.findall(draft.value)) - set(_FIGURE.findall(draft.key))
    # What went from 8080 to 9090 is not 8080.
    value = held.value if held and held.before else card.value
    return not named or bool(named & set(_FIGURE.findall(value)))


def _waits_for_a_person(card: Card) -> bool:
    """Whether a card is an agent's word that nobody confirmed."""
    return card.trust is Origin.AGENT and card.status is Status.CANDIDATE


class Remember:
    """Plans cards from drafts whose turns are stored already.

    Args:
        context: the memory.
        drafts: what to remember.
        texts: the stored texts of the turns that the drafts quote, by number.
    """

    kind = "remember"

    def __init__(
        self, context: JobContext, drafts: Sequence[Draft], texts: Mapping[int, str]
    ) -> None:
        self._host, self._zone = context.host, context.settings.zone
        self._gate, self._now = DraftGate.from_context(context), context.clock()
        self._drafts, self._texts = drafts, texts

    # Somebody waits for it: no model, which may take a minute.
    @unasked()
    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        drafts = self._drafts
        fold = Fold(shelf, self._host, self._gate, self._now, self._zone)
        for draft in drafts:
            fold.add(draft, lambda quote: self._texts.get(quote.n))
        folded = fold.result()
        places = [f"{q.session}#{q.n} {q.hash}" for draft in drafts for q in draft.quotes]
        return Plan(
            kind=self.kind,
            subject=", ".join(draft.key for draft in drafts)[:80],
            inputs=digest_of([self.kind, *places]),
            steps=(
                *with_links(folded.steps, drafts, shelf, self._now),
                *gates.pages(shelf, folded.gone, self._now),
            ),
            changes=tuple(gates.stones(folded.gone, self._now)),
            left_out=tuple(folded.left_out),
        )
