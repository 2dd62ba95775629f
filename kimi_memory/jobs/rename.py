"""Renaming a key: everything that is known under it goes on under another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from kimi_memory.domain.job import Append, Change, Op, Plan, Step, digest_of
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.pages import Event
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.planner import JobContext
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf, read_tombstones

_KEY = re.compile(r"[\w+#@-][\w.+#@-]{0,199}")
_OVER = (Status.ARCHIVED, Status.SUPERSEDED)


def check_key(key: str) -> None:
    """Raise UsageError unless something can be a key."""
    if not _KEY.fullmatch(key):
        raise UsageError(
            f"{key[:60]!r} cannot be a key. Use letters, digits and . _ - + # @, without spaces."
        )


class Rename:
    """Plans that the cards and events of a key get another key.

    Args:
        context: the memory.
        old: the key as it is.
        new: the key as it shall be.

    Raises:
        UsageError: the new key is none, or the same.
    """

    kind = "rename"

    def __init__(self, context: JobContext, old: str, new: str) -> None:
        check_key(new)
        if new == old:
            raise UsageError(f"{new} is its key already. Give another one.")
        self._context, self._old, self._new = context, old, new
        self._now = context.clock()

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        taken = [card for card in shelf.cards(self._new) if card.status not in _OVER]
        if taken:
            # What both keys say could contradict each other, and nobody has decided that.
            raise UsageError(
                f"{self._new} is the key of {taken[0].id} already. Choose another one, or settle "
                "what both say first."
            )
        steps = [
            Step(Op.REFINE, replace(note, key=self._new, updated=self._now), f"was {self._old}")
            for note in self._find_notes(shelf)
        ]
        if not steps:
            raise NotFoundError("card with the key", self._old)
        new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
        heads = [head for head in shelf.heads() if head.id not in new]
        pages, left_out = Pages(self._context.store, shelf, self._context.settings).changes(
            [*heads, *new.values()], steps=steps
        )
        return Plan(
            kind=self.kind,
            subject=f"{self._old} to {self._new}",
            inputs=digest_of([self.kind, self._old, self._new, self._now.isoformat()]),
            steps=tuple(steps),
            changes=(*self._bar_again(), *pages),
            left_out=tuple(left_out),
            asked=True,
        )

    def _find_notes(self, shelf: Shelf) -> Iterator[Card | Event]:
        for kind in (Card.kind, Event.kind):
            for filed in shelf.notes(kind, lambda entry: entry.key == self._old):
                note = filed.note
                if isinstance(note, Card | Event) and note.status is not Status.ARCHIVED:
                    yield note

    def _bar_again(self) -> Iterator[Change]:
        """Yield the tombstones of the old key for the new one: what was forgotten stays so."""
        stones = read_tombstones(self._context.store)
        lines = [
            tombstone_line(replace(stone, key=self._new, at=self._now))
            for stone in stones
            if stone.key == self._old
        ]
        if lines:
            yield Append(TOMBSTONES, tuple(lines))
