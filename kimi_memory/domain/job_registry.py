"""Every job, in one table; commands, HTTP, schedules, settings and docs are made from it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from kimi_memory.errors import NotFoundError

_TIME = re.compile(
    r"(?:(?P<day>mon|tue|wed|thu|fri|sat|sun) )?(?:[01]?\d|2[0-3]):[0-5]\d", re.ASCII
)


# Planners are named and not imported: this module lies below jobs, and the command line reads the
# table for its help.
class JobEntry(NamedTuple):
    """One job.

    One with a time is scheduled, and ``consolidate NAME`` runs it. Its planner is a class with
    `kind` and `plan`; for one over days or weeks it is a function that returns one for each,
    such as `kimi_memory.jobs.periods.daily_jobs`. For what a person asks for it may be the
    function that runs it.
    """

    name: str
    """Its kind in records, commits and the journal, and the argument of ``consolidate``."""
    summary: str
    """What it does, as an imperative sentence."""
    planner: str
    """Dotted name of its planner below ``kimi_memory``, imported when the job runs."""
    plugin: str = ""
    """The bundled plugin that brings it; where that is disabled, nothing runs it by itself."""
    # The week after the day, and introspection after both: each reads what the one before has
    # written.
    time: str = ""
    """When it runs where ``[schedule]`` names no other time; empty if it is not scheduled."""
    span: Literal["day", "week", "memory"] = "memory"
    """What one run of it is about; a day and a week can be named with ``--date``."""
    after: str = ""
    """The job that it follows when a person or a scheduler runs that one."""
    dry_run: bool = True
    """Whether it can report its diff and write nothing."""
    # What was just said exists nowhere else, while a consolidation can run again tomorrow.
    urgent: bool = False
    """Whether it keeps what was just said, and goes on where the history cannot be written."""
    # The same inputs give the same id, by which a job knows that it has run; see
    # `docs/adding-jobs.md`.
    inputs: Literal["words", "ids", "all"] = "words"
    """What its id is made of: what it changes, ids (or one session), or the whole memory."""


JOBS = (
    JobEntry(
        name="remember", summary="Keep statements at once, as cards that quote their turns",
        planner="jobs.fold_drafts.Remember", dry_run=False, urgent=True,
    ),
    JobEntry(
        name="distil", summary="Turn an ended session into its digest, events and cards",
        planner="jobs.distil.Distil", urgent=True, inputs="ids",
    ),
    JobEntry(
        name="pages", summary="Take over what a person changed on pages and in files of cards",
        planner="jobs.import_edits.ImportEdits",
    ),
    JobEntry(
        name="daily", summary="Fold the events of a day into projects, cards and its page",
        planner="jobs.periods.daily_jobs", time="03:15", span="day", inputs="ids",
    ),
    JobEntry(
        name="weekly", summary="Note growth, archive finished projects, propose beliefs",
        planner="jobs.periods.weekly_jobs", time="sun 04:00", span="week", inputs="ids",
    ),
    JobEntry(
        name="skills", summary="Propose procedures that came up again and again as skills",
        planner="plugins.skills.FindSkills", plugin="skills", after="weekly",
        inputs="all",
    ),
    JobEntry(
        name="introspect", summary="Merge duplicates, suggest links, cool down, forget the cold",
        planner="jobs.introspect.Introspect", time="sun 05:00", after="weekly",
        inputs="all",
    ),
    JobEntry(
        name="merge", summary="Judge what two copies say of one thing after they were merged",
        planner="jobs.settle.Settle", inputs="ids",
    ),
    JobEntry(
        name="pick", summary="Take one change, or what is said of one thing, from another copy",
        planner="jobs.pick.Pick", inputs="ids",
    ),
    JobEntry(
        name="adopt", summary="Take over what another memory knows, with its sessions",
        planner="jobs.adopt.AdoptMemory", inputs="ids",
    ),
    JobEntry(
        name="rollback", summary="Bring back what was known at an earlier point",
        planner="jobs.rollback.Rollback", inputs="all",
    ),
    JobEntry(
        name="resolve", summary="Settle a contradiction as a person says",
        planner="jobs.resolve_conflict.Resolve",
    ),
    JobEntry(
        name="correct", summary="Replace a card by what a person says is so instead",
        planner="jobs.correct.Correct",
    ),
    JobEntry(
        name="rename", summary="Give what is known under a key another key",
        planner="jobs.rename.Rename",
    ),
    JobEntry(
        name="review", summary="Accept, edit or reject what waits for a person",
        planner="jobs.review.Review",
    ),
    JobEntry(
        name="link", summary="Link two notes, or remove a link", planner="operations.links.link",
    ),
    JobEntry(
        name="project", summary="Archive a project, or take it up again",
        planner="operations.projects.finish_project",
    ),
    JobEntry(
        name="forget", summary="Archive notes with tombstones that keep them from coming back",
        planner="jobs.forget.Forget",
    ),
    JobEntry(
        name="import", summary="Adopt the statements of another system as cards",
        planner="operations.import_notes.Adopt",
    ),
    JobEntry(
        name="compact", summary="File the summary that stands for old messages of a chat",
        planner="plugins.compaction.compact", plugin="compaction", dry_run=False,
    ),
    JobEntry(
        name="obsidian", summary="Write tables of what is held and what waits, for Obsidian",
        planner="plugins.obsidian.write_views", plugin="obsidian",
    ),
)  # fmt: skip


def scheduled() -> list[JobEntry]:
    """Return the jobs that run by themselves, and that ``consolidate`` runs."""
    return [job for job in JOBS if job.time]


def find_time_fault(name: str, written: str) -> str:
    """Return how the time of a job is written, if it is written otherwise; empty if it fits.

    Args:
        name: of the job.
        written: its time in ``[schedule]``; an empty one means that it does not run by itself.
    """
    span = next((job.span for job in scheduled() if job.name == name), None)
    time = _TIME.fullmatch(written.strip().lower())
    fits = time is not None and (span == "memory" or bool(time["day"]) == (span == "week"))
    if span is None or fits or not written.strip():
        return ""
    return {"day": "04:00", "week": "sun 04:00", "memory": "sun 05:00"}[span]


def periodic() -> list[JobEntry]:
    """Return the scheduled jobs that can be run for one day or week."""
    return [job for job in scheduled() if job.span != "memory"]


def followers(name: str, *, dated: bool) -> list[JobEntry]:
    """Return the jobs that run after another.

    Args:
        name: of the other.
        dated: it ran for one day or week alone; what has a time of its own waits for that.
    """
    return [job for job in JOBS if job.after == name and not (dated and job.time)]


def find_job(name: str) -> JobEntry:
    """Return a job by its name.

    Raises:
        NotFoundError: there is none.
    """
    for job in JOBS:
        if job.name == name:
            return job
    raise NotFoundError("job", name)
