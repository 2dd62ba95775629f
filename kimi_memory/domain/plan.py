"""A plan: what a job would do, before anything is done."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from kimi_memory.domain.card import Card
from kimi_memory.domain.change import Change
from kimi_memory.domain.job import NOTHING, Operation, Spent
from kimi_memory.domain.note import Note
from kimi_memory.domain.plan_step import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a job decided."""

    kind: str
    subject: str
    """The session, day or week it is about."""
    inputs: str
    """Digest of what was read."""
    steps: tuple[Step, ...] = ()
    changes: tuple[Change, ...] = ()
    """Files that are not notes: archives, pages."""
    left_out: tuple[str, ...] = ()
    """One line for each draft that a gate or a rule held back."""
    model: str = "rules"
    prompt: str = ""
    spent: Spent = NOTHING
    """What asking a model cost."""
    asked: bool = False
    """A person named what goes; how much that is, is theirs to say."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.steps and not self.changes


def digest_of(parts: Iterable[str]) -> str:
    """Return the SHA-256 over the parts of a job's input."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def operations(steps: Iterable[Step]) -> tuple[Operation, ...]:
    """Return the record of the steps, as it goes into the job file."""
    return tuple(Operation(s.op, s.note.id, _card_key(s.note), s.why) for s in steps)


def _card_key(note: Note) -> str:
    return note.key if isinstance(note, Card) else ""
