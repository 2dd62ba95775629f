"""Adopting statements of other systems: each a stored turn and a card that quotes it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from kimi_memory.api.memory import Memory
from kimi_memory.capture.log import fits_window
from kimi_memory.config import CaptureTable
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.job import Op, Plan, Step, Verdict, digest_of
from kimi_memory.domain.note import (
    Card,
    CardType,
    Lang,
    Link,
    LinkRel,
    Origin,
    Quote,
    Rel,
    Role,
    Source,
    Status,
)
from kimi_memory.domain.session import IMPORTED, Session, Turn
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.jobs.manual_edits import archive
from kimi_memory.jobs.matching import new_card
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import language_of, normalise
from kimi_memory.nlp.basic.safe_text import gives_orders, slug
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

_LIVE = {Status.CANDIDATE, Status.ACTIVE, Status.STALE, Status.CONFLICTED}
_WIKILINK = "wikilink"
"""Reason of a link that only names the other card."""
# A card is read at a glance; what is longer stays in the file it came from.
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Offer:
    """A memo at its source."""

    memo: Memo
    identity: str
    """``<path>#<id>``: the same for later wordings."""
    hash: str
    """Of its words, links and tags."""
    card: str
    """Id of the card it becomes."""
    at: datetime


def imported_from(name: str) -> str:
    """Return how the ids of the sessions of a source begin."""
    tag = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"import-{tag}-"


class Adopt:
    """Plans the cards and the session that an import makes.

    Args:
        memory: an open memory; only a person's makes active cards.
        name: under which the source is known.
        batch: new and changed memos.
        offers: all memos of the source, which links may name.
    """

    kind = "import"

    def __init__(
        self, memory: Memory, name: str, batch: Sequence[Offer], offers: Sequence[Offer]
    ) -> None:
        self._memory, self._now = memory, memory.clock()
        # An agent that imports a file could otherwise make any sentence true.
        human = memory.actor.origin is Origin.HUMAN
        self._status = Status.ACTIVE if human else Status.CANDIDATE
        self._name, self._batch, self._offers = name, batch, offers

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        name, batch, offers = self._name, self._batch, self._offers
        refs = [_offer_ref(offer) for offer in batch]
        inputs = digest_of([self.kind, name, *refs])
        systems = " ".join(sorted({offer.memo.system for offer in batch}))
        session = Session(
            f"{imported_from(name)}{inputs[:10]}",
            self._now,
            host=IMPORTED,
            channel=name,
            title=f"{systems}: {name}"[:120],
        )
        turns: list[Turn] = []
        deal = _Deal(self._memory, shelf, session, self._status)
        for offer in batch:
            turn = self._build_turn(len(turns) + 1, offer)
            if not turn.text:
                deal.left_out.append(f"{offer.identity}: nothing but injected blocks")
            # Stored again, words that a card holds already would be found twice.
            elif not deal.is_known(offer, turn):
                turns.append(turn)
                deal.add_offer(offer, turn)
        deal.link(batch, offers)
        return Plan(
            kind=self.kind,
            subject=name,
            inputs=inputs,
            steps=tuple(deal.done.values()),
            changes=tuple(archive(session, turns, self._now)) if turns else (),
            left_out=tuple(deal.left_out),
            asked=True,
        )

    def _build_turn(self, n: int, offer: Offer) -> Turn:
        memo = offer.memo
        whole = memo.text if memo.title in memo.text else f"{memo.title}\n\n{memo.text}"
        screened = self._memory.screen.pass_text(whole)
        # A tool's turn: nobody said it here, and it is not to be distilled a second time.
        return Turn(
            n,
            offer.at,
            Role.TOOL,
            screened.text.strip(),
            speaker=memo.system,
            # A person who imports a store has not read each of its lines.
            origin=Origin.REMOTE if gives_orders(screened.text) else Origin.IMPORT,
            ref=_offer_ref(offer),
            masked=screened.masked,
        )


class _Deal:
    """The cards of one batch while they are decided."""

    def __init__(self, memory: Memory, shelf: Shelf, session: Session, status: Status) -> None:
        self._store, self._host, self._shelf = memory.store, memory.host, shelf
        self._gate = DraftGate.from_context(memory)
        self._session, self._status, self._now = session, status, session.started
        self.done: dict[str, Step] = {}
        """What was decided, by the id of the card."""
        self.left_out: list[str] = []
        self._said = dict(_live_values(shelf))
        self._keys: set[str] = set()

    def is_known(self, offer: Offer, turn: Turn) -> bool:
        """Whether another card says the very words of a memo; it is then reported as left out."""
        twin = self._said.get(normalise(_card_value(offer.memo, turn.text)), "")
        known = bool(twin) and offer.card not in self._shelf.entries()
        if known:
            self.left_out.append(f"{offer.identity}: known already as {twin}")
        return known

    def add_offer(self, offer: Offer, turn: Turn) -> None:
        """Decide what becomes of one memo."""
        draft = self._build_draft(offer, turn)
        entry = self._shelf.entries().get(offer.card)
        why = self._gate.objection(draft)
        if why:
            self.left_out.append(f"{offer.identity}: {why}")
        elif entry is None:
            self._add_card(offer, draft)
        else:
            note = self._shelf.file(entry.path).note
            assert isinstance(note, Card)  # its id is that of a card
            self._update_card(offer, draft, note)

    def link(self, batch: Sequence[Offer], offers: Sequence[Offer]) -> None:
        """Turn the names that memos link to into links between cards."""
        # Of several memos with one name the first counts, so the last is put in first.
        names = {
            name.casefold(): offer.card for offer in reversed(offers) for name in offer.memo.names
        }
        there = {*self._shelf.entries(), *self.done}
        changed = {offer.card for offer in batch}
        for offer in offers:
            ties = [Link(name, reason=_WIKILINK) for name in offer.memo.links]
            led: dict[str, Link] = {}
            # Links with a meaning first: of two to one card only the first is kept.
            for tie in (*offer.memo.edges, *ties):
                led.setdefault(names.get(tie.to.casefold(), ""), tie)
            wanted = [
                replace(tie, to=id) for id, tie in led.items() if id in there and id != offer.card
            ]
            if offer.card in self.done or (wanted and offer.card not in changed):
                self._add_links(offer.card, wanted)

    def _add_links(self, id: str, wanted: Sequence[Link]) -> None:
        step = self.done.get(id)
        if step is None and id not in self._shelf.entries():
            return
        card = step.note if step else self._shelf.file(self._shelf.find(id).path).note
        assert isinstance(card, Card)  # its id is that of a card
        known = {link.to for link in card.links}
        new = [link for link in wanted if link.to not in known]
        if new and (step or card.status in _LIVE):
            linked = replace(card, links=(*card.links, *new), updated=self._now)
            op, why = (step.op, step.why) if step else (Op.LINK, "its link leads somewhere now")
            self.done[id] = Step(op, linked, why)

    def _add_card(self, offer: Offer, draft: Draft) -> None:
        card = self._build_card(offer, draft)
        rivals = [c for c in self._shelf.cards(draft.key) if c.status in _LIVE]
        if rivals:
            settled = self._resolve_conflict(offer, draft, card, rivals[0])
        else:
            settled = card if draft.key not in self._keys else self._make_key_unique(offer, card)
        if settled is not None:
            self._keys.add(settled.key)
            self._said[normalise(draft.value)] = settled.id
            why = f"imported from {offer.memo.system} {offer.identity}"
            self.done[settled.id] = Step(Op.ADD, settled, why)

    def _resolve_conflict(self, offer: Offer, draft: Draft, card: Card, rival: Card) -> Card | None:
        """Return the card as it may stand beside one of its key, or None."""
        verdict = self._host.answer("judge_conflict", card=rival, draft=draft)
        if verdict is Verdict.AGREES:
            self.left_out.append(f"{offer.identity}: known already as {rival.id}")
            return None
        if verdict in (Verdict.REFINES, Verdict.UNRELATED, None):
            return self._make_key_unique(offer, card)
        # What a person said here counts for more than what another program kept.
        if rival.trust.rank < draft.origin.rank:
            why = f"imported words cannot change {rival.id}"
            self.left_out.append(f"{offer.identity}: {why}")
            return None
        why = "same key, incompatible values"
        link = Link(card.id, LinkRel.CONTRADICTS, 1.0, why)
        both = replace(
            rival, status=Status.CONFLICTED, links=(*rival.links, link), updated=self._now
        )
        self.done[rival.id] = Step(Op.CONFLICT, both, f"{card.id} says otherwise")
        back = (Link(rival.id, LinkRel.CONTRADICTS, 1.0, why),)
        return replace(card, status=Status.CONFLICTED, links=back)

    def _make_key_unique(self, offer: Offer, card: Card) -> Card:
        return replace(card, key=f"{card.key}.{offer.card[-6:]}")

    def _update_card(self, offer: Offer, draft: Draft, card: Card) -> None:
        if card.status not in _LIVE:
            self.left_out.append(f"{offer.identity}: {card.id} is {card.status} here")
        # What a person corrected here is not overwritten by the source.
        elif not self._is_unedited(card):
            why = f"changed at the source, but {card.id} was edited here"
            self.left_out.append(f"{offer.identity}: {why}")
        elif draft.origin is Origin.REMOTE and card.trust is not Origin.REMOTE:
            self.left_out.append(f"{offer.identity}: it gives orders to a model now")
        else:
            quote = draft.quotes[0]
            new = replace(
                card,
                title=draft.title,
                value=draft.value,
                lang=draft.lang,
                tags=tuple(dict.fromkeys((*card.tags, *draft.tags))),
                links=tuple(link for link in card.links if link.reason != _WIKILINK),
                quotes=(*card.quotes, quote),
                sources=(*card.sources, Source.from_quote(quote, Rel.UPDATES)),
                verified=offer.at,
                updated=self._now,
            )
            self.done[card.id] = Step(Op.REFINE, new, "changed at the source")

    def _is_unedited(self, card: Card) -> bool:
        """Whether a card still says what was imported, so that nobody edited it here."""
        for quote in card.quotes:
            if quote.session.startswith("import-"):
                path = sessions.find(self._store, quote.session).path
                turn = sessions.read(self._store, path).turn(quote.n)
                if turn and Quote(quote.session, quote.n, card.value).stands_in(turn.text):
                    return True
        return False

    def _build_draft(self, offer: Offer, turn: Turn) -> Draft:
        memo = offer.memo
        found = None if memo.key else self._capture_draft(turn)
        title = memo.title if memo.names and memo.title else " ".join(memo.text.split())[:60]
        value = _card_value(memo, turn.text)
        tags = ("-".join(tag.split()).lstrip("#") for tag in memo.tags)
        made = f"{memo.system}.{slug(memo.id if memo.names else title, limit=40)}"
        return Draft(
            type=memo.type or (found.type if found else CardType.FACT),
            key=memo.key or (found.key if found else made),
            # What screening took out of the text must not stand in the title.
            title=title if title in turn.text else value[:60],
            value=value,
            quotes=(Quote(self._session.id, turn.n, value),),
            at=offer.at,
            lang=Lang(language_of(value)),
            importance=found.importance if found else 0.5,
            confidence=0.5,
            origin=turn.origin,
            tags=tuple(dict.fromkeys((*tags, f"from/{memo.system}"))),
            category=memo.project or memo.system,
            project=memo.project,
            scope=memo.scope,
        )

    def _capture_draft(self, turn: Turn) -> Draft | None:
        """Return what the triggers would make of the words, for their key and sort."""
        if not fits_window(turn.text, CaptureTable()):
            return None
        asked = replace(turn, role=Role.USER, origin=Origin.HUMAN)
        gathered = self._host.gather("capture_turn", turn=asked, session=self._session)
        return next((draft for found in gathered for draft in found), None)

    def _build_card(self, offer: Offer, draft: Draft) -> Card:
        memo = offer.memo
        return replace(
            new_card(draft, self._now, None),
            id=offer.card,
            created=memo.created or offer.at,
            status=Status.CANDIDATE if draft.origin is Origin.REMOTE else self._status,
            valid_from=memo.created or offer.at,
            expires=memo.expires,
        )


def _card_value(memo: Memo, said: str) -> str:
    """Return what the card says: the memo's words as they were stored, within measure."""
    start = said.find("\n\n") + 2 if memo.title and memo.title not in memo.text else 0
    words = said[start:].strip() or said
    if len(words) <= _LONGEST:
        return words
    # At the end of a line; the whole text stays in the turn that the card quotes.
    cut = words.rfind("\n", 0, _LONGEST)
    return words[: cut if cut > 0 else _LONGEST].rstrip()


def _offer_ref(offer: Offer) -> str:
    return f"{offer.identity}@{offer.hash}"


def _live_values(shelf: Shelf) -> Iterator[tuple[str, str]]:
    for filed in shelf.notes("card"):
        card = filed.note
        if isinstance(card, Card) and card.status in _LIVE:
            yield normalise(card.value), card.id
            # An export says all parts of a card in one text.
            yield normalise("\n".join(filter(None, card.body_texts))), card.id
