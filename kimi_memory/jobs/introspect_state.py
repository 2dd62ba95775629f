"""The ledger of an introspection: notes as they will be, and what its limits still allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from kimi_memory.config import Settings
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.jobs.merge import Pair, archived, merged, moved
from kimi_memory.store.notes.notes import Filed

_APART = 8
"""Files a job writes beside its notes: its record, the overview, usage."""
_FEW = 8
"""Below so many cards a share says nothing; the gate of losses thinks the same."""


@dataclass(slots=True)
class Summary:
    """What an introspection did, in numbers."""

    merged: int = 0
    suggested: int = 0
    bands: Mapping[str, int] = field(default_factory=dict)
    """Cards in each band afterwards."""
    warmed: int = 0
    """Cards that went to a warmer band."""
    cooled: int = 0
    forgotten: int = 0
    pruned: int = 0
    """Unimportant events archived."""
    waiting: dict[str, int] = field(default_factory=dict)
    """What did not fit this job's limits and is left to the next one."""


class Ledger:
    """The notes as they will be, and how much of the job's limits is left."""

    def __init__(self, filed: list[Filed], settings: Settings, now: datetime) -> None:
        self._filed, self._now = filed, now
        self.cards = {one.note.id: one.note for one in filed if isinstance(one.note, Card)}
        self._events = {one.note.id: one.note for one in filed if isinstance(one.note, Event)}
        self.steps: list[Step] = []
        self.alike: list[Pair] = []
        self.summary = Summary()
        self._touched: set[str] = set()
        self._linking: dict[str, set[str]] = {}
        for card in self.cards.values():
            self._index_links(card)
        # Each category has a page, which may change with any of its cards.
        pages = len({card.category for card in self.cards.values()})
        # At most half of the files is kept free for pages, so that cards have their turn as well.
        self._files = settings.gates.max_files - _APART - min(pages, settings.gates.max_files // 2)
        standing = sum(card.status in LIVE for card in self.cards.values())
        few = standing < _FEW
        # The gate would stop the whole job; kept here, the rest of it goes on.
        self._losses = len(filed) if few else int(standing * settings.gates.max_loss)

    def live(self) -> list[Card]:
        """Return the cards that stand, by id."""
        return [card for _, card in sorted(self.cards.items()) if card.status in LIVE]

    def events(self) -> list[Event]:
        """Return the events that stand, oldest first."""
        standing = (e for e in self._events.values() if e.status is not Status.ARCHIVED)
        return sorted(standing, key=lambda event: (event.at, event.id))

    def holds(self, id: str) -> bool:
        """Whether an id is that of a card or an event."""
        return id in self.cards or id in self._events

    def filed(self) -> list[Filed]:
        """Return the files with the notes as they will be."""
        return [replace(one, note=self.cards.get(one.note.id, one.note)) for one in self._filed]

    def put(self, op: Op, note: Note, why: str) -> bool:
        """Add a step if its file fits the limit."""
        if not self._has_room({note.id}):
            self._count_waiting(str(op))
            return False
        self._record_step(op, note, why)
        return True

    def lose(self, op: Op, note: Note, why: str) -> bool:
        """Archive a note if that many may go."""
        if not self._losses:
            self._count_waiting(str(op))
            return False
        gone = replace(note, status=Status.ARCHIVED, updated=self._now)
        done = self.put(op, gone, why)
        self._losses -= done
        return done

    def merge(self, keeper: Card, other: Card, likeness: float) -> bool:
        """Merge one card into another, with everything that links to it."""
        whole = merged(keeper, other, self._now)
        linking = sorted(self._linking.get(other.id, set()) - {keeper.id, other.id})
        others = {id: self.cards[id] for id in linking if self.cards[id].status in LIVE}
        # A merge is done whole: half of it would leave links to a card that is gone.
        if not self._has_room({keeper.id, other.id, *others}):
            self._count_waiting(str(Op.MERGE))
            return False
        why = f"{likeness:.2f} alike and the same claim"
        self._record_step(Op.MERGE, whole, f"takes in {other.id}: {why}")
        gone = archived(other, keeper, self._now)
        self._record_step(Op.MERGE, gone, f"merged into {keeper.id}: {why}")
        for card in others.values():
            changed = moved(card, {other.id: keeper.id}, self._now)
            self._record_step(Op.LINK, changed, f"{other.id} is now {keeper.id}")
        self.summary.merged += 1
        return True

    def describe_waiting(self) -> list[str]:
        """Return one line for each sort of step that waits."""
        return [
            f"{count} {op} wait for the next introspect: this one is as large as gates allow"
            for op, count in sorted(self.summary.waiting.items())
        ]

    def _has_room(self, ids: set[str]) -> bool:
        return len(self._touched | ids) <= self._files

    def _count_waiting(self, op: str) -> None:
        self.summary.waiting[op] = self.summary.waiting.get(op, 0) + 1

    def _index_links(self, card: Card) -> None:
        """Note which cards link where; a link that is moved later is found all the same."""
        for link in card.links:
            self._linking.setdefault(link.to, set()).add(card.id)

    def _record_step(self, op: Op, note: Note, why: str) -> None:
        self._touched.add(note.id)
        if isinstance(note, Card):
            self.cards[note.id] = note
            self._index_links(note)
        elif isinstance(note, Event):
            self._events[note.id] = note
        self.steps.append(Step(op, note, why))
