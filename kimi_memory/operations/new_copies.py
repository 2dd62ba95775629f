"""New folders made of a memory: a branch of it, or a fork that is a memory of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.config import MARKER
from kimi_memory.domain.change import digest
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.note import Origin
from kimi_memory.errors import UsageError
from kimi_memory.jobs.merging import list_changes
from kimi_memory.jobs.tombstone_gate import TombstoneGate
from kimi_memory.merge.note_files import read_notes
from kimi_memory.merge.settings import set_entries
from kimi_memory.past.points import Point
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.git.history import History
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.notes.notes import read_tombstones
from kimi_memory.store.trust.vetting import MERGED
from kimi_memory.store.wal.records import EXTERNAL, Provenance


class _File(NamedTuple):
    """A file of the new folder."""

    content: bytes
    counts: bytes | None
    """The version that counts; None where there is none."""


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
    if not name[:1].isalnum() or not all(sign.isalnum() or sign in "-_" for sign in name):
        raise UsageError(f"{name!r} cannot be a branch. Use letters, digits, '-' and '_'.")
    point, merger, files = _read_point(memory, at)
    with _lay_folder(memory, folder) as part:
        _make_repository(memory, part)
        merger.send(part, point.commit, name)
        _write_files(part, files)
        _begin_copy(memory, part, files, "What was forgotten since")
    _list_copy(memory, folder)
    return point


def make_fork(memory: Memory, folder: Path, name: str, at: str = "HEAD") -> str:
    """Make a memory of its own of what this one knows; return its id.

    It begins with a history of one commit, and names what it was forked from.

    Raises:
        UsageError: the folder cannot be used, or there is no such point.
    """
    point, _, files = _read_point(memory, at)
    id = new_id("memory", memory.clock())
    parent = f"{memory.settings.memory.id}@{point.commit}"
    entries = {"id": id, "parent": parent, "name": memory.screen.pass_name(name)}
    values = {("memory", key): json.dumps(value) for key, value in entries.items()}
    settings = set_entries(files[MARKER].content.decode(), values).encode()
    files[MARKER] = _File(settings, settings)
    with _lay_folder(memory, folder) as part:
        _make_repository(memory, part)
        _write_files(part, files)
        # With the versions that count: of what waits, they are found in the history.
        made = History(part, lock=nullcontext, clock=memory.clock)
        made.commit(f"Forked from {parent}", trailers={"Kind": "fork", "Parent": parent})
        _begin_copy(memory, part, files, "What waits for a word")
    _list_copy(memory, folder)
    return id


def _begin_copy(memory: Memory, folder: Path, files: Mapping[str, _File], subject: str) -> None:
    """Have what nobody confirmed in the memory wait in the new copy as well."""
    with _open_copy(memory, folder) as copy:
        waiting = {path: one for path, one in files.items() if one.content != one.counts}
        here = {path: one.counts for path, one in waiting.items() if one.counts is not None}
        wanted = {path: one.content for path, one in waiting.items()}
        origin = f"{EXTERNAL}:{Origin.REMOTE}"
        sources = {
            path: Provenance(origin, MERGED, digest(here[path]) if path in here else "none")
            for path in wanted
        }
        copy.store.apply(list_changes(here, wanted), copy.actor, waiting=sources)
        copy.batch.note()
        copy.batch.flush(subject)


def _list_copy(memory: Memory, folder: Path) -> None:
    """Have a new copy stand among the copies on this machine, under its name."""
    with _open_copy(memory, folder) as copy:
        assert copy.copy_id


def _open_copy(memory: Memory, folder: Path) -> Memory:
    opening = Opening(
        home=memory.home, clock=memory.clock, actor=memory.actor, host=memory.host, background=False
    )
    return Memory.open(folder, opening)


def _read_point(memory: Memory, at: str) -> tuple[Point, Merger, dict[str, _File]]:
    """Return a point and the files of then, without what was forgotten until now."""
    memory.repair_merges()
    memory.batch.flush("Before a copy")
    point, merger = memory.points.find(at), memory.history.merger()
    files = dict(merger.read([point.commit], whole=True).trees[0])
    if MARKER not in files:
        raise UsageError(f"{at} has no {MARKER}. Name a later point.")
    if memory.store.exists(TOMBSTONES):
        files[TOMBSTONES] = memory.store.read(TOMBSTONES)
    gate = TombstoneGate(read_tombstones(memory.store))
    barred = {
        one.path for one in read_notes(_list_pages(files), {}, {}).values() if gate.note(one.note)
    }
    kept = {path: content for path, content in files.items() if path not in barred}
    return point, merger, {path: _judge(memory, path, one) for path, one in kept.items()}


def _list_pages(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if path.endswith(".md")}


def _judge(memory: Memory, path: str, content: bytes) -> _File:
    """Return a file with the version of it that counts."""
    vetting = memory.store.vetting
    if vetting is None or not vetting.is_unconfirmed(path, content):
        return _File(content, content)
    here = memory.store.exists(path) and memory.store.read(path) == content
    served = memory.store.served(path) if here else None
    return _File(content, served.content if served and served.cap is None else None)


@contextmanager
def _lay_folder(memory: Memory, folder: Path) -> Iterator[Path]:
    """Give a folder to fill; it gets its name once it is whole."""
    if folder.resolve().is_relative_to(memory.root):
        raise UsageError(f"{folder} lies in the memory itself. Name a place outside of it.")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is no folder. Name a new one.")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Name a new folder.")
    # Git is started in the folder: a relative name would mean another one there.
    place = folder.absolute()
    part = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        part.mkdir(parents=True)
        yield part
        os.sync()  # Once, and not for each of ten thousand files.
        part.replace(place)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _make_repository(memory: Memory, part: Path) -> None:
    History(part, lock=nullcontext, clock=memory.clock).init()


def _write_files(part: Path, files: Mapping[str, _File]) -> None:
    """Write the versions that count: what lies there when the journal is begun counts."""
    for path, file in files.items():
        if file.counts is not None:
            place = part / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as opened:
                opened.write(file.counts)
