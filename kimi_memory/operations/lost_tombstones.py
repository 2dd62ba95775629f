"""The tombstones that history or the journal knows and the file lacks: what they bar may return."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.job import Append, Create, digest
from kimi_memory.domain.operation_types import Commit
from kimi_memory.domain.tombstone import KEYED
from kimi_memory.formats.jsonl import is_whole, sum_of, tombstone_of, unseal
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.health_checks import find_part
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.wal.records import EXTERNAL

_REWRITES = frozenset({"purge", "rekey", "repair"})
"""Kinds of commits that write tombstones anew."""
Name = tuple[str, str, str, bool]
Names = set[Name]
Lines = Mapping[Name, bytes]
"""The lines of tombstones, by what they bar."""


def check_missing_tombstones(memory: Memory) -> Iterator[Finding]:
    """Yield how many tombstones are gone that no undo and no purge took out."""
    if find_part(memory):
        return
    lines = _read_file(memory).splitlines(keepends=True)
    # A line that was changed is named by itself, and is not gone besides.
    changed = sum(bool(sum_of(line)) and not is_whole(line) for line in lines)
    gone = len(find_missing_tombstones(memory)) - changed
    if gone > 0:
        message = f"{counted(gone, 'tombstones are gone')}; what was forgotten may come back"
        remedy = (
            "Let 'kimi-memory doctor --fix' put back what history has. "
            "If you meant it, take the job that forgot it back with 'kimi-memory undo'."
        )
        yield Finding("tombstones", Severity.ERROR, message, remedy, TOMBSTONES, fixable=True)
    elif not _read_stones(b"".join(lines)) and not changed and _journal_knows_some(memory):
        message = "the journal knows of tombstones, and neither the file nor history has one"
        remedy = f"Restore {TOMBSTONES} from a backup."
        yield Finding("tombstones", Severity.ERROR, message, remedy, TOMBSTONES)


def restore_tombstones(memory: Memory) -> int:
    """Put back the tombstones that are gone; return their number."""
    with memory.store.lock("job"):
        lines = tuple(find_missing_tombstones(memory).values())
        if lines:
            there = memory.store.exists(TOMBSTONES)
            # Added, so that what else waits in the file is not confirmed by it.
            new = Append(TOMBSTONES, lines) if there else Create(TOMBSTONES, b"".join(lines))
            actor = memory.actor._replace(name="doctor")
            memory.store.apply([new], actor, subject="put tombstones back")
    memory.written()
    return len(lines)


def find_missing_tombstones(memory: Memory) -> Lines:
    """Return the lines of tombstones that were taken out by nothing that may do it."""
    known, by_job = dict[Name, bytes](), defaultdict[str, Names](set)
    for commit, step in _read_steps(memory):
        kind, gone = commit.trailers.get("Kind"), step.old.keys() - step.new.keys()
        if kind == "merge":
            # What a side took out was looked at there; but a session may have another id now.
            gone = {name for name in gone if name[0].startswith("session:")}
        elif kind not in _REWRITES:
            gone = set()
        gone |= by_job[commit.trailers.get("Undoes", "")]
        # Another side may have taken out what stood here before already.
        added = {name: line for name, line in step.new.items() if name not in step.old}
        known = {name: line for name, line in known.items() if name not in gone} | added
        if job := commit.trailers.get("Job"):
            by_job[job] |= added.keys()
    there = _read_stones(_read_file(memory))
    return {name: line for name, line in known.items() if name not in there}


class _Step(NamedTuple):
    """The tombstones before and after a commit."""

    old: Lines
    new: Lines


def _read_steps(memory: Memory) -> Iterator[tuple[Commit, _Step]]:
    """Yield the commits, oldest first, with what each made of the tombstones."""
    if not memory.history.ready():
        return
    commits = memory.history.log(limit=-1, path=TOMBSTONES)
    touched = memory.history.touched(one.hash for one in commits)
    found = {one.commit: one for one in touched if one.path == TOMBSTONES}
    blobs = {blob for one in found.values() for blob in (one.before, one.blob)} - {""}
    contents = {"": b"", **memory.history.blobs(blobs)}
    stones = {blob: _read_stones(content) for blob, content in contents.items()}
    # All of them: an undo says what it took back also where the file lacked it already.
    for commit in reversed(memory.history.log(limit=-1) if found else []):
        one = found.get(commit.hash)
        yield commit, _Step(stones[one.before], stones[one.blob]) if one else _Step({}, {})


def _journal_knows_some(memory: Memory) -> bool:
    """Whether a command left tombstones in the file, by the last record that is not an edit."""
    records = memory.store.journal.newest_first(TOMBSTONES.encode())
    ours = (
        one for one in records if one.get("path") == TOMBSTONES and one.get("actor") != EXTERNAL
    )
    last = next(ours, {})
    return str(last.get("after", "")) not in ("", digest(b""))


def _read_file(memory: Memory) -> bytes:
    return memory.store.read(TOMBSTONES) if memory.store.exists(TOMBSTONES) else b""


def _read_stones(content: bytes) -> dict[Name, bytes]:
    found = dict[Name, bytes]()
    for line in content.splitlines():
        try:
            stone = tombstone_of(unseal(line))
        except ValueError:
            continue  # Another check names a broken line.
        # A job replaces plain hashes by keyed ones, which cannot be compared with them.
        if not stone.hashed or not stone.value or stone.value.startswith(KEYED):
            found[stone.scope, stone.key, stone.value, stone.hashed] = line + b"\n"
    return found
