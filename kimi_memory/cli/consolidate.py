"""``consolidate``: run a scheduled job, such as the daily or weekly one, or introspect."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.introspection import run_introspection
from kimi_memory.cli.purge import purge_on_nodes
from kimi_memory.cli.shared import day_argument, finish_reports, open_memory, show
from kimi_memory.domain.job_registry import find_job, followers, scheduled
from kimi_memory.errors import UsageError
from kimi_memory.jobs.planner import load_planner
from kimi_memory.operations.expired import purge_expired
from kimi_memory.operations.forget import Doomed, PurgeReport, purge


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    names = [job.name for job in scheduled()]
    parser.add_argument("period", choices=names, help="which job")
    parser.add_argument("--date", default="", help="one day or week; default: all with news")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Distil what waits, then run the job and those that follow it."""
    job, dry_run = find_job(arguments.period), arguments.dry_run
    if job.span == "memory" and arguments.date:
        raise UsageError(f"The job {job.name} looks at all of memory as it is. Leave out --date.")
    if job.name == "introspect":
        return run_introspection(arguments)
    with open_memory(arguments) as memory:
        day = day_argument(arguments.date, memory.zone) if arguments.date else None
        # A day is made of distilled sessions; without this, what ended last night would be missing
        # in it.
        reports = [] if dry_run else memory.distil_waiting()
        reports += memory.consolidate(job.name, day, dry_run=dry_run)
        for follower in followers(job.name, dated=day is not None):
            # A user who disables a plugin wants nothing of it, also not behind another job.
            if memory.host.has(follower.plugin):
                reports.append(memory.run(load_planner(follower)(memory), dry_run=dry_run))
        if job.name == "daily" and not dry_run:
            reports += purge_expired(memory, _destroy)
    if not reports and not arguments.json:
        show(f"{job.name}: nothing to do")
    return finish_reports(arguments, reports)


def _destroy(memory: Memory, doomed: Doomed) -> PurgeReport:
    shared = memory.store.relay is not None
    return purge_on_nodes(memory, doomed).report if shared else purge(memory, doomed, yes=True)
