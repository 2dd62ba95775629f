"""What a job used, as a row of usage, and telling plugins of it."""

from __future__ import annotations

from kimi_memory.config import Settings
from kimi_memory.domain.agent_run import Usage
from kimi_memory.domain.job import Job
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.dates.zone import Zone, day_in

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
