"""A job: what it read, what it decided and why, what it changed."""

from __future__ import annotations

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
