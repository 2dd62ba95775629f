"""What the doctor looks at besides the files of truth: tombstones, jobs, copies of sync tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.errors import FormatError
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import read_tombstones

_COPY = re.compile(
    r".*(?:\.sync-conflict-\d{8}-\d{6}|[ (]conflicted copy|'s conflicted copy|冲突副本|衝突副本"
    r"|-冲突-\d|_conflict-\d{8}| \(case conflict\)).*",
    re.IGNORECASE,
)
"""Names that Syncthing, Dropbox, Nextcloud and Nutstore give the version that lost."""
_SHOWN = 5


def check_tombstones(memory: Memory) -> Iterator[Finding]:
    """Yield the tombstones file where it cannot be read: no job may run without it."""
    try:
        read_tombstones(memory.store)
    except FormatError as error:
        remedy = f"{error.remedy}, or restore the file from git ('kimi-memory log')."
        message = f"line {error.line}: {error.why}; until it can be read no job runs"
        yield Finding("tombstones", Severity.ERROR, message, remedy, TOMBSTONES)


def check_jobs(memory: Memory) -> Iterator[Finding]:
    """Yield the periodic jobs that failed last time; one that rests does nothing by itself."""
    breaker, now = Breaker(memory.store, memory.settings.gates), memory.clock()
    resting = {line for line in breaker.state(now) if ", rests:" in line}
    for line in breaker.state(now):
        severity = Severity.ERROR if line in resting else Severity.WARNING
        remedy = "Mend the cause, then run 'kimi-memory doctor --fix' to have it tried again."
        yield Finding("jobs", severity, line, remedy, fixable=True)


def check_copies(memory: Memory) -> Iterator[Finding]:
    """Yield the copies that sync tools left where two machines wrote to one file."""
    found = [path for path in memory.store.files() if _COPY.fullmatch(path)]
    for path in found[:_SHOWN]:
        yield _copy_finding(
            "a sync tool left this copy of a file that changed on two machines", path
        )
    if len(found) > _SHOWN:
        yield _copy_finding(f"there are {len(found) - _SHOWN} more copies of sync tools", "")


def _copy_finding(message: str, path: str) -> Finding:
    remedy = "Take over what you want of it, then remove it; share a memory through git instead."
    return Finding("copies", Severity.WARNING, message, remedy, path)
