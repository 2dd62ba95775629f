"""Pages of work that is done on a memory: jobs, their diffs and undo."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import AgentRun
from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import Job, JobReport, digest
from kimi_memory.formats.diff_text import split_diff
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.id_names import title_of
from kimi_memory.operations.job_list import diff_of_job, run_kind
from kimi_memory.operations.undo_many import newest_jobs, undo_jobs
from kimi_memory.runs.lifecycle import Runs
from kimi_memory.web.page_types import Asked, Redirect, View, link
from kimi_memory.web.schedule import list_schedule

# Of a job with thousands of operations the first ones show what it did.
SHOWN = 60
RUNS = 20


class Ran(NamedTuple):
    """A job in the list of all."""

    job: Job
    counts: Mapping[str, int]
    """How many operations of each kind."""
    at: object


class Run(NamedTuple):
    """A run of an agent in the list of all."""

    run: AgentRun
    at: object
    seconds: float
    """0 while it lives."""


def show_jobs(memory: Memory, asked: Asked) -> View:
    """List what jobs and agents did, and offer the jobs that can be run."""
    values = {
        "jobs": [_ran(memory, job) for job in islice(newest_jobs(memory), SHOWN)],
        "schedule": [*list_schedule(memory)],
        "waiting": memory.waiting(),
        "runs": [
            Run(one, in_zone(moment(one.started), memory.zone), one.usage.wall_s)
            for one in reversed(Runs(memory).list_runs()[-RUNS:])
        ],
    }
    return View("jobs", "jobs", values)


def _ran(memory: Memory, job: Job) -> Ran:
    report = JobReport("", "", "", job.operations)
    return Ran(job, report.counts, in_zone(job.at, memory.zone))


def show_job(memory: Memory, asked: Asked) -> View:
    """Show what a job decided and changed, and what undoing it would do."""
    job = memory.jobs.load(asked.get("id"))
    commit = memory.history.find("Job", job.id) if memory.history.ready() else None
    backs = [(one.path, _back(memory, one.path, one.before, one.after)) for one in job.effects]
    names = {one.target: title_of(memory, one.target) for one in job.operations[:SHOWN]}
    values = {
        "ran": _ran(memory, job),
        "names": names,
        "files": split_diff(diff_of_job(memory, job)),
        "backs": backs,
    }
    return View("job", job.id, {**values, "commit": commit})


def _back(memory: Memory, path: str, before: str, after: str) -> str:
    """Return what undoing does to a file: a name of a caption."""
    now = digest(memory.store.read(path)) if memory.store.exists(path) else ""
    if now != after:
        return "back_merged"
    return "back_restored" if before else "back_removed"


def undo_job(memory: Memory, asked: Asked) -> Redirect:
    """Take a job back, with those that one decision ran before it."""
    id, before = asked.get("id"), asked.all("job")
    if before:
        undo_jobs(memory, [memory.jobs.load(one) for one in (id, *reversed(before))])
    else:
        memory.undo(id)
    return Redirect(link(asked.get("back", "/jobs"), said="undone", was=id))


def run_jobs(memory: Memory, asked: Asked) -> View | Redirect:
    """Run a job, or show what it would do."""
    kind, dry = asked.get("kind"), bool(asked.get("dry"))
    reports = run_kind(memory, kind, dry_run=dry)
    if not dry:
        last = next((report.id for report in reversed(reports) if report.id), "")
        return Redirect(link("/jobs", said="ran" if last else "nothing_to_do", job=last))
    files = [file for report in reports for file in split_diff(report.diff)]
    return View("dry_run", "dry_run", {"kind": kind, "reports": reports, "files": files})
