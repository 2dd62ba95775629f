"""A job: what it read, what it decided and why, what it changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.domain.change import Effect


class Op(StrEnum):
    """The typed operations a job is made of."""

    ADD = "ADD"
    CORROBORATE = "CORROBORATE"
    REFINE = "REFINE"
    SUPERSEDE = "SUPERSEDE"
    CONFLICT = "CONFLICT"
    MERGE = "MERGE"
    LINK = "LINK"
    ARCHIVE = "ARCHIVE"
    FORGET = "FORGET"


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision of a job and its reason."""

    op: Op
    target: str
    """Id of the note it concerns."""
    key: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What asking models cost a job."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


NOTHING = Spent()


@dataclass(frozen=True, slots=True)
class Job:
    """``mid-term/jobs/<job>.json``."""

    id: str
    kind: str
    """distil, daily, weekly, introspect, import, merge, remember …"""
    at: datetime
    inputs: str
    """SHA-256 over everything the job read: the same inputs give nothing to do."""
    subject: str = ""
    """The session, day or week it is about."""
    model: str = "rules"
    prompt: str = ""
    """Version hash of the prompt where a model took part."""
    spent: Spent = NOTHING
    operations: tuple[Operation, ...] = ()
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job did, or with a dry run would do."""

    id: str
    """Empty when there was nothing to do."""
    kind: str
    subject: str
    operations: tuple[Operation, ...] = ()
    paths: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    diff: str = ""
    """Unified diff, with a dry run only."""
    commit: str = ""
    model: str = "rules"
    spent: Spent = NOTHING
    """What asking a model cost."""
    failed: str = ""
    """Why nothing was done, where one of several jobs failed."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many operations of each type."""
        return dict(Counter(str(operation.op) for operation in self.operations))
