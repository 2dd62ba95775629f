"""The shape of a job, and what a memory lends it to plan with."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from datetime import date, datetime

    from kimi_memory.config import Settings
    from kimi_memory.domain.job import Actor, Plan
    from kimi_memory.domain.job_registry import JobEntry
    from kimi_memory.hooks.host import Host
    from kimi_memory.store.git.history import History
    from kimi_memory.store.notes.notes import Shelf
    from kimi_memory.store.store import Store


class Planner(Protocol):
    """A job before it runs: `Memory.run` carries out what it plans."""

    @property
    def kind(self) -> str:
        """Its name in records, commits and the journal."""

    def plan(self, shelf: Shelf) -> Plan:
        """Return what is to be done, given the notes as they are; write nothing."""


class OneJob(NamedTuple):
    """A job that is no more than a function."""

    kind: str
    plan: Callable[[Shelf], Plan]


class JobContext(Protocol):
    """The parts of a memory that planners use; an open `Memory` has them all."""

    @property
    def store(self) -> Store:
        """The files."""

    @property
    def history(self) -> History:
        """The commits of the folder."""

    @property
    def host(self) -> Host:
        """The plugins."""

    @property
    def settings(self) -> Settings:
        """What ``memory.toml`` says."""

    @property
    def actor(self) -> Actor:
        """On whose behalf the memory is open."""

    @property
    def clock(self) -> Callable[[], datetime]:
        """Tells the moment."""

    def is_secret(self, text: str) -> bool:
        """Whether a text holds what may not be stored."""

    def mask_secrets(self, text: str) -> str:
        """Return a text without secrets and injected blocks."""


def load_planner(job: JobEntry) -> Any:
    """Import what plans a job."""
    module, _, name = job.planner.rpartition(".")
    # Imported when it runs: the list of jobs is read at every start.
    return getattr(import_module(f"kimi_memory.{module}"), name)


def planners_of(
    job: JobEntry, context: JobContext, day: date | None, done: Done
) -> dict[str, Planner]:
    """Return what is to be run for a scheduled job, by period.

    Args:
        job: of the registry.
        context: the memory.
        day: a day, or any day of a week; None for all that have news.
        done: tells whether a job of a kind ran over inputs.
    """
    if job.span == "memory":
        return {"": load_planner(job)(context)}
    found: dict[str, Planner] = load_planner(job)(context, day, done)
    return found


Done = Callable[[str, str], bool]
"""Tells whether a job of a kind ran over inputs, and was not undone."""
