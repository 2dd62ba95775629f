"""What the doctor looks at besides the files of truth: tombstones, jobs, stray copies, sizes."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.job import Job
from kimi_memory.errors import FormatError
from kimi_memory.formats.job_file import FOLDER, job_of
from kimi_memory.formats.jsonl import is_whole, sum_of
from kimi_memory.index.units import tier_of
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.jobs.losing_versions import find_losing
from kimi_memory.merge.files import CONFLICTS
from kimi_memory.store.files.paths import PRIVATE, TOMBSTONES, is_conflict_copy
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from kimi_memory.store.wal.records import LOST

_MERGE_LOSING = "Let 'kimi-memory doctor --fix' merge it into the other file, or delete it."
_DELETE_LOSING = "Take over what is right into the other file, then delete this one."
_DELETE_KEPT = "Take over what is right into the file of its name, then delete this one."
_KEPT = re.compile(r"\.(?:[0-9a-f]{8}|\d{8}T\d{6}Z)\.[^/]+$")
"""How a version is marked that was kept; a page about a contradiction has no such mark."""
_NUMBERED = re.compile(
    r"(.+?)(?: ?[(（]\d+[)）]| (?:- )?(?:copy|副本)(?: \d+| ?[(（]\d+[)）])?)\.md", re.IGNORECASE
)
"""How sync tools, browsers and file managers name one more file of the same name."""
# The same fault mostly stands in many files, and the remedy is the same.
_SHOWN = 5
_HISTORY = ".git"


def check_tombstones(memory: Memory) -> Iterator[Finding]:
    """Yield the tombstones file where it cannot be read: no job may run without it."""
    try:
        read_tombstones(memory.store)
    except FormatError as error:
        remedy = f"{error.remedy}, or restore the file from git ('kimi-memory log')."
        message = f"line {error.line}: {error.why}; until it can be read no job runs"
        yield Finding("tombstones", Severity.ERROR, message, remedy, TOMBSTONES)
    content = memory.store.read(TOMBSTONES) if memory.store.exists(TOMBSTONES) else b""
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        # A person may write one without a sum; one that has a sum was written by a command.
        if sum_of(line) and not is_whole(line):
            message = f"line {number} was changed after it was written, so it may bar nothing"
            remedy = "If that was not you, restore the file from git ('kimi-memory log --path')."
            yield Finding("tombstones", Severity.WARNING, message, remedy, TOMBSTONES)


def check_lost_tombstones(memory: Memory) -> Iterator[Finding]:
    """Yield the broken lines that were cut off the tombstones: what they barred may come back."""
    name = TOMBSTONES.rpartition("/")[2]
    for path in sorted((memory.root / LOST).glob(f"*.{name}")):
        place = f"{LOST}/{path.name}"
        message = f"a broken line was cut off {TOMBSTONES}; what it barred may come back"
        remedy = (
            f"Restore what is missing from git ('kimi-memory log --path {TOMBSTONES}'), "
            "then delete the file named here."
        )
        yield Finding("tombstones", Severity.WARNING, message, remedy, place)


def find_part(memory: Memory) -> tuple[str, ...]:
    """Return the tiers that a folder keeps alone; nothing for one with all of its memory."""
    relay = memory.store.relay
    return relay.position.place.keep if relay else ()


def check_deployment(memory: Memory) -> Iterator[Finding]:
    """Yield why a folder that is shared with other machines follows nothing any more."""
    relay = memory.store.relay
    if relay is not None and (place := relay.position.place).broken:
        message = f"node {place.node} stopped after record {place.seq}: {place.broken}"
        remedy = "Run 'kimi-memory deploy repair'; of a purge that was begun, run it again."
        yield Finding("deployment", Severity.ERROR, message, remedy)
    if part := find_part(memory):
        message = f"this folder keeps only {', '.join(part)}, and no history"
        yield Finding("deployment", Severity.OK, message)


def check_jobs(memory: Memory) -> Iterator[Finding]:
    """Yield the periodic jobs that failed last time; one that rests does nothing by itself."""
    breaker = Breaker(memory.store, memory.settings.gates)
    for line, rests in breaker.failing(memory.clock()):
        # One failure may pass by itself; a job that rests does nothing until somebody looks.
        severity = Severity.ERROR if rests else Severity.WARNING
        remedy = "Mend the cause, then run 'kimi-memory doctor --fix' to have it tried again."
        yield Finding("jobs", severity, line, remedy, fixable=True)


def check_copies(memory: Memory) -> Iterator[Finding]:
    """Yield the versions that sync tools left where two machines wrote to one file."""
    found = list(filter(is_conflict_copy, memory.store.files()))
    mended = {one.path for one in find_losing(memory.store)} if memory.history.ready() else set()
    # Sync tools may leave thousands; five show what they are like.
    for path in found[:_SHOWN]:
        message = "a sync tool left this losing version here; it is not read"
        yield _copy_finding(message, path, fixable=path in mended)
    if rest := found[_SHOWN:]:
        message = f"there are {len(rest)} more losing versions of sync tools"
        yield _copy_finding(message, "", fixable=not mended.isdisjoint(rest))


def check_page_copies(memory: Memory) -> Iterator[Finding]:
    """Yield what has the name of a copy of one of the pages outside of all tiers."""
    pages = {path for path in memory.store.files() if "/" not in path}
    for path in sorted(pages):
        mark = _NUMBERED.fullmatch(path)
        if mark and f"{mark[1]}.md" in pages:
            message = f"it looks like a copy of {mark[1]}.md that a program made"
            yield _copy_finding(message, path, fixable=False)


def check_kept(memory: Memory) -> Iterator[Finding]:
    """Yield the versions that wait for a person, as they could not be merged into their file."""
    found = [path for path in memory.store.files(CONFLICTS) if _KEPT.search(path)]
    for path in found[:_SHOWN]:
        message = "this version of a file could not be merged and waits here"
        yield Finding("copies", Severity.WARNING, message, _DELETE_KEPT, path)
    if rest := found[_SHOWN:]:
        message = f"there are {len(rest)} more versions that wait in conflicts"
        yield Finding("copies", Severity.WARNING, message, _DELETE_KEPT, CONFLICTS)


def _copy_finding(message: str, path: str, *, fixable: bool) -> Finding:
    remedy = _MERGE_LOSING if fixable else _DELETE_LOSING
    return Finding("copies", Severity.WARNING, message, remedy, path, fixable=fixable)


def check_folder(memory: Memory) -> Iterator[Finding]:
    """Yield the other folders in which the same memory lies."""
    for path in memory.other_copies():
        message = f"the same memory lies in {path}, too, and each goes on by itself"
        remedy = f"Join them with 'kimi-memory merge {path}' or, by a remote, 'kimi-memory sync'."
        yield Finding("folder", Severity.WARNING, message, remedy)


def check_ids(memory: Memory) -> Iterator[Finding]:
    """Yield the notes that have the id of another."""
    for path, other in Shelf(memory.store).doubles():
        message = f"it has the id of {other}, so it is not read as a note"
        remedy = "Delete one of the two, or give it another id."
        yield Finding("notes", Severity.WARNING, message, remedy, path)


def check_purges(memory: Memory) -> Iterator[Finding]:
    """Yield the purges whose old history another copy has brought back."""
    purged = find_purged_heads(memory)
    if not purged or not memory.history.ready():
        return
    # One call for all purges, however many there were.
    reachable = {commit.hash for commit in memory.history.log(limit=-1)}
    for old, job in purged.items():
        # The head before a purge is reachable again where a copy that has it was merged.
        if old in reachable:
            message = f"a merge brought back what {job} destroyed: commit {old[:10]} is older"
            remedy = "Purge the same text again, here and in the copy that it was pulled from."
            yield Finding("purge", Severity.ERROR, message, remedy)


def find_purged_heads(memory: Memory) -> dict[str, str]:
    """Return the commits that were current before a purge, each with the id of the purge."""
    purges = [job for job in _yield_purge_jobs(memory) if job.kind == "purge"]
    return {
        effect.before: job.id
        for job in purges
        for effect in job.effects
        if effect.path == ".git" and effect.before
    }


def _yield_purge_jobs(memory: Memory) -> Iterator[Job]:
    for path in memory.store.files(FOLDER):
        if path.startswith(f"{FOLDER}/purge-"):
            try:
                yield job_of(memory.store.read(path))
            except ValueError:
                continue  # Other checks name files that cannot be read.


def sizes(root: Path) -> Mapping[str, int]:
    """Return bytes by tier, of the pages outside of all tiers, of history and of derived files."""
    found: Counter[str] = Counter()
    for folder, _, names in os.walk(root):
        here = Path(folder)
        above = here.relative_to(root).as_posix()
        head = above.partition("/")[0]
        part = {_HISTORY: "history", PRIVATE: "derived"}.get(head) or tier_of(f"{above}/")
        for name in names:
            try:
                found[part] += (here / name).lstat().st_size
            except OSError:
                continue  # It went while we looked.
    return dict(sorted(found.items()))


def shown_size(count: int) -> str:
    """Return a number of bytes for people."""
    if count < 1024:
        return f"{count} B"
    size, units = float(count), ("KiB", "MiB", "GiB")
    for unit in units:
        size /= 1024
        if size < 1024 or unit == units[-1]:
            break
    return f"{size:.1f} {unit}"


CHECKS = (
    check_tombstones, check_jobs, check_copies, check_page_copies, check_kept, check_deployment,
)  # fmt: skip
"""What only the doctor looks at, in its order."""
