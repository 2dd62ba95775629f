"""Meetings of copies in a drop folder: what is new is dropped, what others dropped is merged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.domain.sync import MergeReport, SyncOptions
from kimi_memory.errors import KimiMemoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.bundles import describe_memory, take_names
from kimi_memory.operations.encrypted_drops import find_envelope
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.store.copy import list_ids
from kimi_memory.store.git.drops import Arrival, read_drop, write_drop


@dataclass(frozen=True, slots=True)
class Met:
    """What a copy sent to a drop folder and took from it."""

    sent: tuple[Path, ...] = ()
    """The bundles it dropped."""
    merged: tuple[MergeReport, ...] = ()
    """What it merged, each with the copy it is from."""
    waiting: tuple[str, ...] = ()
    """What is not whole yet or was refused, and why."""


def meet_in_folder(memory: Memory, folder: Path, how: SyncOptions | None = None) -> Met:
    """Drop what is new here, then merge what others dropped and arrived whole.

    Args:
        memory: opened for writing.
        folder: the drop folder, the same for all copies or carried between them.
        how: by default both ways; with a dry run nothing is dropped.

    Raises:
        UsageError: the folder is not there, or cannot be written.
        HistoryError: there is no history.
    """
    how = how or SyncOptions()
    if not how.dry_run:
        memory.repair_merges()
    push = how.push and not how.dry_run
    # First of all, so that what is only here is in two places before anything is merged.
    sent = [drop_news(memory, folder, how.since)] if push else []
    merged, waiting = list[MergeReport](), list[str]()
    for one in take_arrivals(memory, folder) if how.pull else ():
        waiting += [f"{one.copy}: {one.waiting}"] if one.waiting else []
        try:
            if one.tip:
                report = merge_copy(memory, one.tip, dry_run=how.dry_run)
                merged.append(replace(report, source=f"copy {one.copy}"))
            take_names(memory, one.names, dry_run=how.dry_run)
        except KimiMemoryError as error:  # One copy keeps the others from nothing.
            waiting.append(f"{one.copy}: {error}")
    sent += [drop_news(memory, folder, how.since)] if push and how.pull else []
    return Met(tuple(path for path in sent if path), tuple(merged), tuple(waiting))


def drop_news(memory: Memory, folder: Path, since: str = "") -> Path | None:
    """Drop what is new since this copy's last bundle; return the file, None where nothing is.

    Args:
        memory: opened for writing.
        folder: the drop folder.
        since: a point that all who read there have: a first bundle has only what came after it.
    """
    envelope = find_envelope(memory, folder)
    memory.batch.flush()
    memory.sign_last()
    with memory.store.lock("job"):
        merger, manifest = memory.history.merger(), describe_memory(memory)
        base = memory.points.find(since).commit if since else ""
        manifest = replace(manifest, base=base)
        return write_drop(merger, folder, manifest, envelope, list_ids(memory.store)[:-1])


def take_arrivals(memory: Memory, folder: Path) -> list[Arrival]:
    """Take over what others dropped; `merge_copy` merges the tip of each."""
    id, purged = memory.settings.memory.id, bool(find_purged_heads(memory))
    envelope = find_envelope(memory, folder)
    with memory.store.lock("job"):
        return read_drop(
            memory.history.merger(), folder, id, memory.copy_id, purged=purged, envelope=envelope
        )
