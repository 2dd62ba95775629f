"""New folders made of a memory: a branch of it, or a fork that is a memory of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.ids import new_id
from kimi_memory.errors import UsageError
from kimi_memory.jobs.gates import TombstoneGate
from kimi_memory.merge.note_files import read_notes
from kimi_memory.merge.settings import set_entries
from kimi_memory.nlp.basic.safe_text import one_line
from kimi_memory.operations.branches import check_name
from kimi_memory.operations.held_files import keep_held
from kimi_memory.operations.new_folders import (
    File,
    begin_copy,
    beside,
    borrow_folder,
    lay_folder,
    list_copy,
    make_history,
    write_files,
)
from kimi_memory.past.points import Point
from kimi_memory.past.unmet import find_waiting, merge_unmet
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.notes.notes import read_tombstones


def make_branch(memory: Memory, name: str, folder: Path, at: str = "HEAD") -> Point:
    """Make a working copy of a memory, with its history, on a branch of its own.

    Args:
        memory: opened for writing.
        name: of the branch.
        folder: a new or empty one, outside of the memory.
        at: a point in the history at which it begins.

    Raises:
        UsageError: the folder or the name cannot be used, or there is no such point.
    """
    check_name(memory, name)
    point, merger, files = read_point(memory, at)
    with lay_folder(folder, memory.root) as part:
        make_history(part, beside(memory))
        merger.send(part, point.commit, name)
        write_files(part, files)
        begin_copy(part, beside(memory), files, "What was forgotten since")
    list_copy(folder, beside(memory))
    return point


def make_fork(memory: Memory, folder: Path, name: str, at: str = "HEAD") -> str:
    """Make a memory of its own of what this one knows; return its id.

    It begins with a history of one commit, and names what it was forked from.

    Raises:
        UsageError: the folder cannot be used, or there is no such point.
    """
    point, _, files = read_point(memory, at)
    id = new_id("memory", memory.clock())
    parent = f"{memory.settings.memory.id}@{point.commit}"
    entries = {"id": id, "parent": parent, "name": one_line(memory.screen.pass_name(name))}
    values = {("memory", key): json.dumps(value) for key, value in entries.items()}
    settings = set_entries(files[MARKER].content.decode(), values).encode()
    files[MARKER] = File(settings, settings)
    with lay_folder(folder, memory.root) as part:
        made = make_history(part, beside(memory))
        write_files(part, files)
        # With the versions that count: of what waits, they are found in the history.
        made.commit(f"Forked from {parent}", trailers={"Kind": "fork", "Parent": parent})
        begin_copy(part, beside(memory), files, "What waits for a word")
    list_copy(folder, beside(memory))
    return id


@contextmanager
def open_past(
    memory: Memory, at: str, held: datetime | None = None
) -> Iterator[tuple[Point, Memory]]:
    """Open the memory of a point in a folder of its own, which is removed again.

    Its index is made of that tree alone, and its clock stands at the point: it answers as the
    memory did then, but for what was forgotten since.

    Args:
        memory: opened for writing.
        at: a point in the history.
        held: of what was known at the point, only what was so at this moment.

    Raises:
        UsageError: there is no such point, or no memory yet.
    """
    point, _, files = read_point(memory, at)
    if held is not None:
        files = keep_held(files, held)
    with borrow_folder() as part:
        write_files(part, files)
        if any(one.content != one.counts for one in files.values()):
            begin_copy(part, beside(memory), files, "")
        opening = replace(beside(memory), clock=lambda: held or point.moment)
        with Memory.open(part, opening) as past:
            yield point, past


def read_point(memory: Memory, at: str) -> tuple[Point, Merger, dict[str, File]]:
    """Return a point and the files of then, without what was forgotten until now."""
    memory.repair_merges()
    memory.batch.flush("Before a copy")
    point, merger = memory.points.find(at), memory.history.merger()
    unmet = merge_unmet(memory.history, point)
    there = {**merger.read([point.commit], whole=True).trees[0], **unmet.files}
    files = {path: one for path, one in there.items() if one is not None}
    if MARKER not in files:
        raise UsageError(f"{at} has no {MARKER}. Name a later point.")
    # Those of now, and not those of then: what was forgotten since must not come back.
    if memory.store.exists(TOMBSTONES):
        files[TOMBSTONES] = memory.store.read(TOMBSTONES)
    gate = TombstoneGate(read_tombstones(memory.store))
    pages = {path: content for path, content in files.items() if path.endswith(".md")}
    barred = {one.path for one in read_notes(pages, {}, {}).values() if gate.note(one.note)}
    kept = {path: content for path, content in files.items() if path not in barred}
    vetting = memory.store.vetting
    waiting = vetting.find_unconfirmed(kept.items()) if vetting is not None else set()
    made = find_waiting(memory.store, unmet)
    waiting |= {(path, one) for path, one in kept.items() if path in made}
    judged = {
        path: _judge(memory, path, one) if (path, one) in waiting else File(one, one)
        for path, one in kept.items()
    }
    return point, merger, judged


def _judge(memory: Memory, path: str, content: bytes) -> File:
    """Return a file that waits with the version of it that counts."""
    here = memory.store.exists(path) and memory.store.read(path) == content
    served = memory.store.served(path) if here else None
    return File(content, served.content if served and served.cap is None else None)
