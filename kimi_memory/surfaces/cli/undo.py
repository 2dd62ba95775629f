"""``undo``: take a job back, byte for byte."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.surfaces.cli.shared import open_memory, show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("job", help="the id of a job, as log shows it, or its beginning")
    parser.add_argument("--dry-run", action="store_true", help="name the files, write nothing")


def run(arguments: Namespace) -> int:
    """Undo the job, or show what would be undone."""
    with open_memory(arguments) as memory:
        load = memory.jobs.load if arguments.dry_run else memory.undo
        job = load(arguments.job)
    if arguments.json:
        show_json(job)
        return 0
    show(f"{'Would undo' if arguments.dry_run else 'Undone'}: {job.id} of {job.at:%Y-%m-%d %H:%M}")
    for effect in job.effects:
        done = "restored" if effect.before else "removed"
        show(f"  {done:<9} {effect.path}")
    return 0
