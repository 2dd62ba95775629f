"""``undo``: take the last job back, byte for byte; or a named one, or all of a day or agent."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import day_argument, open_memory, pad, say, show_result
from kimi_memory.domain.job import Job, digest
from kimi_memory.errors import UsageError
from kimi_memory.jobs.pages import is_page
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.undo_many import undo_agent, undo_day, undo_last


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "job",
        nargs="?",
        default="",
        help="its id, as log shows it, or the beginning; default: the last one",
    )
    parser.add_argument("--day", default="", metavar="DATE", help="every job that ran on a day")
    parser.add_argument(
        "--agent", default="", metavar="NAME", help="every job on the sessions of one agent alone"
    )
    parser.add_argument(
        "--three-way",
        action="store_true",
        help="what is done in any case where a file changed since: keep what came later",
    )
    parser.add_argument("--dry-run", action="store_true", help="name the files, write nothing")


def run(arguments: Namespace) -> int:
    """Undo, or show what would be undone."""
    # Two of them could mean both or either; undo is not the place to guess.
    if sum(map(bool, (arguments.job, arguments.day, arguments.agent))) > 1:
        raise UsageError("Say one thing to undo: a job's id, --day DATE, or --agent NAME.")
    with open_memory(arguments) as memory:
        jobs = _undo_jobs(memory, arguments)
        zone, title = memory.zone, "Would undo" if arguments.dry_run else "Undone"
        told = [_describe_files(memory, job, undone=not arguments.dry_run) for job in jobs]
    lines = []
    for job, done in zip(jobs, told, strict=True):
        at = f"{in_zone(job.at, zone):%Y-%m-%d %H:%M}"
        lines.append(say(f"{title}: {{job}} of {{at}}", job=job.id, at=at))
        lines += [f"  {pad(say(done[one.path]), 9)} {one.path}" for one in job.effects]
    found = jobs if arguments.day or arguments.agent else jobs[0]
    return show_result(arguments, found, lines)


def _undo_jobs(memory: Memory, arguments: Namespace) -> list[Job]:
    if arguments.day:
        day = day_argument(arguments.day, memory.zone)
        return undo_day(memory, day, dry_run=arguments.dry_run)
    if arguments.agent:
        return undo_agent(memory, arguments.agent, dry_run=arguments.dry_run)
    if not arguments.job:
        return undo_last(memory, dry_run=arguments.dry_run)
    # The record of a job names every file it changed, so a dry run need not touch one.
    take_back = memory.jobs.load if arguments.dry_run else memory.undo
    return [take_back(arguments.job)]


def _describe_files(memory: Memory, job: Job, *, undone: bool) -> dict[str, str]:
    """Return for each file of a job what the undo did, or would do, with it."""
    found: dict[str, str] = {}
    for effect in job.effects:
        there = memory.store.exists(effect.path)
        now = digest(memory.store.read(effect.path)) if there else ""
        exact = now == (effect.before if undone else effect.after)
        plain = "restored" if effect.before else "removed"
        found[effect.path] = plain if exact else "anew" if is_page(effect.path) else "merged"
    return found
