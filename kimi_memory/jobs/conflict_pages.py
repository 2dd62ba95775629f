"""Disputes: live cards that contradict each other, and their pages in conflicts/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kimi_memory.domain.change import Change
from kimi_memory.domain.job import Step
from kimi_memory.domain.note import Card, LinkRel, Status
from kimi_memory.formats.note_format import own_name
from kimi_memory.formats.page_sign import may_rewrite, signed
from kimi_memory.formats.templates import fill
from kimi_memory.jobs.evidence import supporting
from kimi_memory.jobs.render import Render
from kimi_memory.store.notes.notes import Shelf

FOLDER = "conflicts"


@dataclass(frozen=True, slots=True)
class Dispute:
    """One question with several answers, each with its evidence."""

    key: str
    sides: tuple[Card, ...]
    """Oldest first."""

    @property
    def path(self) -> str:
        """Where its page lies."""
        return f"{FOLDER}/{own_name(self.key, self.sides[0].scope)}.md"

    @property
    def text(self) -> str:
        """The page, signed with its own hash."""
        # The reader most likely uses the language in which they spoke last.
        lang = max(self.sides, key=lambda card: card.updated).lang
        sides = list(map(_describe_side, self.sides))
        return signed(fill("notes/CONFLICT", lang, key=self.key, sides=sides, mark="0" * 12))


def disputes(cards: Iterable[Card]) -> list[Dispute]:
    """Return the open disputes among some cards, in order of their keys."""
    open_cards = {card.id: card for card in cards if card.status is Status.CONFLICTED}
    groups: dict[str, set[str]] = {}
    for card in sorted(open_cards.values(), key=lambda card: card.id):
        near = {
            card.id,
            *_contradicted_ids(card),
            *_of_key(card, open_cards.values()),
        } & open_cards.keys()
        # A page that shows private and shared answers side by side would give the private one
        # away.
        near = {id for id in near if open_cards[id].scope == card.scope}
        for id in list(near):
            near |= groups.get(id, set())
        groups |= dict.fromkeys(near, near)
    found = {frozenset(ids) for ids in groups.values()}
    return sorted(
        (_build_dispute(open_cards[id] for id in ids) for ids in found), key=lambda d: d.key
    )


def _contradicted_ids(card: Card) -> Iterator[str]:
    return (link.to for link in card.links if link.rel is LinkRel.CONTRADICTS)


def _card_slot(card: Card) -> tuple[str, str, str]:
    return card.key, card.project, card.scope


def _of_key(card: Card, others: Iterable[Card]) -> Iterator[str]:
    return (other.id for other in others if _card_slot(other) == _card_slot(card))


def _build_dispute(cards: Iterable[Card]) -> Dispute:
    sides = sorted(cards, key=lambda card: (card.valid_from or card.created, card.id))
    return Dispute(sides[0].key, tuple(sides))


def _describe_side(card: Card) -> dict[str, object]:
    return {
        "id": card.id,
        "value": " ".join(card.value.split()),
        "confidence": f"{card.confidence:.2f}",
        "trust": str(card.trust),
        "since": f"{card.valid_from or card.created:%Y-%m-%d}",
        "quotes": [
            {"text": " ".join(quote.text.split()), "session": quote.session, "n": quote.n}
            for quote in supporting(card)
        ],
    }


def page_changes(render: Render, shelf: Shelf, steps: Iterable[Step]) -> list[Change]:
    """Return the changes that give every dispute the steps open, or add to, its page."""
    new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
    if not any(card.status is Status.CONFLICTED for card in new.values()):
        return []
    marked = [e for e in shelf.entries().values() if e.status == str(Status.CONFLICTED)]
    old = (shelf.file(e.path).note for e in marked if e.kind == "card" and e.id not in new)
    cards = [*(note for note in old if isinstance(note, Card)), *new.values()]
    opened = [one for one in disputes(cards) if any(card.id in new for card in one.sides)]
    # A page on which a person wrote is theirs until they have decided.
    free = (d for d in opened if not render.exists(d.path) or may_rewrite(render.text(d.path)))
    return [change for one in free for change in render.replace_file(one.path, one.text.encode())]
