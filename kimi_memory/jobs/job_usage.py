"""What jobs used: a row of usage for plugins, and the tokens they may still ask for today.

The records travel with the memory, so that a restart or a second process changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime

from kimi_memory.config import Settings
from kimi_memory.domain.agent_run import Usage
from kimi_memory.domain.job import Job, TokenBound
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.job_file import FOLDER, job_of
from kimi_memory.hooks.host import Host
from kimi_memory.llm.usage import Meter
from kimi_memory.nlp.dates.vocabulary import Zone, day_in, in_zone
from kimi_memory.store.store import Store

Others = Callable[[datetime], Sequence[TokenBound]]
_RULES = "rules"


def usage_of(job: Job, zone: Zone, memory: str = "") -> Usage:
    """Return what a job used.

    Args:
        job: its record.
        zone: where the days of the memory begin.
        memory: its name.
    """
    spent = job.spent
    return Usage(
        memory, f"{day_in(job.at, zone)}", job=job.kind,
        model="" if job.model == _RULES else job.model, calls=spent.calls,
        tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, writes=len(job.effects),
    )  # fmt: skip


def notice_job(host: Host, job: Job, settings: Settings) -> None:
    """Tell plugins that a job was recorded, and what it used."""
    host.notice("metered", usage=usage_of(job, settings.zone, settings.memory.name))


class DayBudget:
    """Bounds what the jobs of a day may spend together.

    Args:
        store: has the records of jobs.
        most: tokens of a day; no bound if 0.
        clock: tells the time.
        zone: in which a day begins and ends.
        others: returns what others bound, such as a space for all its memories; called with the
            moment in that zone.
    """

    def __init__(
        self, store: Store, most: int, clock: Callable[[], datetime], zone: Zone, others: Others
    ) -> None:
        self._store, self._most, self._clock, self._zone = store, most, clock, zone
        self._others = others
        self._known: dict[str, tuple[date, int]] = {}
        """Day and tokens of each record that was read; one is written once."""

    def bound(self, meter: Meter) -> None:
        """Let a job ask no more than what is left of today."""
        self._hold_others(meter)
        if not self._most:
            return
        left = self._most - self._count(day_in(self._clock(), self._zone))
        meter.most = min(meter.most, max(left, 0))
        if left <= 0:
            meter.tell(
                f"the {self._most:,} tokens of today are spent (gates.max_tokens_per_day); rules "
                "decide alone"
            )

    def _hold_others(self, meter: Meter) -> None:
        try:
            bounds = self._others(in_zone(self._clock(), self._zone))
        except KimiMemoryError as error:
            # What must not be passed is not known.
            meter.most = 0
            meter.tell(f"how many tokens are left is not known: {error}; rules decide alone")
            return
        for one in bounds:
            meter.most = min(meter.most, max(one.left, 0))
            if one.left <= 0:
                meter.tell(
                    f"the {one.most:,} tokens of today of the space {one.space} are spent; rules "
                    "decide alone"
                )

    def _count(self, today: date) -> int:
        for path in self._store.files(FOLDER):
            if path not in self._known:
                with suppress(ValueError):  # 'doctor' names a record that is broken.
                    job = job_of(self._store.read(path))
                    spent = job.spent.tokens_in + job.spent.tokens_out
                    self._known[path] = day_in(job.at, self._zone), spent
        return sum(spent for day, spent in self._known.values() if day == today)
