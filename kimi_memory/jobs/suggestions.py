"""Suggested links that wait for a person: too weak to be confirmed by a job, or a contradiction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.graph import REJECTED, SUGGESTED
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, Link, LinkRel, Status
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes.notes import Shelf

PREFIX = "link-"
"""How the ids of what waits here begin."""
MOST = 20
"""So many are shown, the heaviest first; a person answers one by one."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A link of one card that nobody has confirmed."""

    path: str
    card: Card
    link: Link
    other: Card
    """Where it leads."""

    @property
    def id(self) -> str:
        """What it is answered by; the same for as long as it waits."""
        text = f"{self.card.id} {self.link.rel} {self.link.to}"
        return f"{PREFIX}{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def reason(self) -> str:
        """Why it was suggested."""
        return self.link.reason.removeprefix(SUGGESTED).strip(" :")

    def accepted(self, now: datetime, words: str = "") -> list[Step]:
        """Return what confirming it does; cards that contradict each other become a conflict."""
        why = f"a person confirmed {self.link.rel} {self.link.to}"
        card = self._replace_link(replace(self.link, reason=words or self.reason), now)
        if self.link.rel is not LinkRel.CONTRADICTS:
            return [Step(Op.LINK, card, why)]
        back = Link(self.card.id, LinkRel.CONTRADICTS, 1.0, words or self.reason)
        links = (*self.other.links, back)
        return [
            Step(Op.CONFLICT, replace(card, status=Status.CONFLICTED), why),
            Step(
                Op.CONFLICT,
                replace(self.other, links=links, status=Status.CONFLICTED, updated=now),
                f"a person says that {self.card.id} contradicts it",
            ),
        ]

    def rejected(self, now: datetime) -> list[Step]:
        """Return what turning it away does: it is not suggested again."""
        # Kept with weight 0 and not removed: without it, the next introspection would suggest it
        # again.
        card = self._replace_link(replace(self.link, weight=0.0, reason=REJECTED), now)
        return [Step(Op.LINK, card, f"a person wants no link to {self.link.to}")]

    def _replace_link(self, link: Link, now: datetime) -> Card:
        links = tuple(link if one == self.link else one for one in self.card.links)
        return replace(self.card, links=links, updated=now)


def suggestions(shelf: Shelf, accept: float) -> list[Suggestion]:
    """Return the links that wait, heaviest first.

    Args:
        shelf: the notes as they are.
        accept: from this weight on the weekly job confirms them by itself.
    """
    found = [
        Suggestion(filed.path, filed.note, link, other)
        for filed in shelf.notes(Card.kind, lambda entry: entry.suggests)
        if isinstance(filed.note, Card) and filed.note.status in LIVE
        for link in _waiting_links(filed.note, accept)
        if (other := _find_live(shelf, link.to)) is not None
    ]
    return sorted(found, key=lambda one: (-one.link.weight, one.id))


def _find_live(shelf: Shelf, id: str) -> Card | None:
    entry = shelf.entries().get(id)
    if entry is None:
        return None
    with suppress(FormatError, NotFoundError):
        note = shelf.file(entry.path).note
        return note if isinstance(note, Card) and note.status in LIVE else None
    return None


def _waiting_links(card: Card, accept: float) -> Iterator[Link]:
    for link in card.links:
        settled = link.weight >= accept and link.rel is not LinkRel.CONTRADICTS
        if link.reason.startswith(SUGGESTED) and link.weight > 0 and not settled:
            yield link
