"""Purges that a merge took back: the history from before them is reachable again."""

from __future__ import annotations

from collections.abc import Iterator

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.job import Job
from kimi_memory.formats.jsonl import job_of
from kimi_memory.jobs.runner import FOLDER


def check_purges(memory: Memory) -> Iterator[Finding]:
    """Yield the purges whose old history another copy has brought back."""
    purges = [job for job in _yield_purge_jobs(memory) if job.kind == "purge"]
    if not purges or not memory.history.ready():
        return
    reachable = {commit.hash for commit in memory.history.log(limit=-1)}
    for job in purges:
        # The head before a purge is reachable again where a copy that has it was merged.
        old = next((effect.before for effect in job.effects if effect.path == ".git"), "")
        if old in reachable:
            yield Finding(
                "purge",
                Severity.ERROR,
                f"a merge brought back what {job.id} destroyed: commit {old[:10]} is older",
                "Purge the same text again, here and in the copy that it was pulled from.",
            )


def _yield_purge_jobs(memory: Memory) -> Iterator[Job]:
    for path in memory.store.files(FOLDER):
        if path.startswith(f"{FOLDER}/purge-"):
            try:
                yield job_of(memory.store.read(path))
            except ValueError:
                continue  # Other checks name files that cannot be read.
