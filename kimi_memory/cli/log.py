"""``log``: show the history."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, show_result
from kimi_memory.nlp.dates.vocabulary import in_zone


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--path", default="", help="only what concerns one file")
    parser.add_argument("--limit", type=int, default=20, help="most commits; default: 20")


def run(arguments: Namespace) -> int:
    """Print commits, newest first, with their jobs."""
    with open_memory(arguments) as memory:
        commits = memory.history.log(limit=arguments.limit, path=arguments.path)
        zone = memory.zone
    lines = []
    for commit in commits:
        job = commit.trailers.get("Job", "")
        # Commits that a person made have no trailers, and are shown all the same.
        ops = commit.trailers.get("Ops", "")
        details = "  ".join(part for part in (job and f"[{job}]", ops) if part)
        at = f"{in_zone(commit.at, zone):%Y-%m-%d %H:%M}"
        lines.append(f"{commit.hash[:10]}  {at}  {commit.subject}  {details}".rstrip())
    return show_result(arguments, commits, lines)
