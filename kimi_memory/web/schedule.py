"""The schedule as pages show it: when a job is due, when it ran, whether it fails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job_registry import scheduled
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.nlp.dates.vocabulary import in_zone


class Timed(NamedTuple):
    """A scheduled job: when it is due, and when it ran last."""

    name: str
    time: str
    """Empty where it never runs by itself."""
    ran: datetime | None
    failed: int
    """How many times in a row it failed since."""
    why: str


def list_schedule(memory: Memory) -> Iterator[Timed]:
    """Yield the scheduled jobs of a memory."""
    breaker = Breaker(memory.store, memory.settings.gates)
    for job in scheduled():
        ran = max((one.at for one in memory.jobs.records(job.name)), default=None)
        fails = breaker.read_failures(job.name)
        time = memory.settings.schedule.get(job.name, "")
        at = in_zone(ran, memory.zone) if ran else None
        yield Timed(job.name, time, at, fails.count, fails.why)
