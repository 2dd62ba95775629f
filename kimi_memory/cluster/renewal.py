"""Renewal: the folder of a deployment made anew from the last snapshot of its log.

A purge does it to every copy: nothing of the old folder stays, so nothing has to be looked for in
it. What a person wrote there, and no record has, is put aside in the new one and named.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cluster.registry import Registry
from kimi_memory.cluster.snapshots import copy_memory
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.domain.job import digest
from kimi_memory.errors import DiskError, FormatError, NotPrimaryError
from kimi_memory.store.deployment import Deployment, read_deployment
from kimi_memory.store.edits_aside import FOLDER as ASIDE
from kimi_memory.store.edits_aside import note_aside
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.paths import KEPT, is_own
from kimi_memory.store.notes.sessions import find_kept, keep_again, read_kept, render_kept
from kimi_memory.store.wal.records import LOST, Entry, mark_of

_LOCKS = ("job", "store", "relay")


def renew_folder(log: ChangeLog, folder: Path, opening: Opening) -> list[str]:
    """Make a deployment anew from the last snapshot; return the files that were put aside.

    Args:
        log: the change logs.
        folder: of the deployment; programs that have it open must open it again.
        opening: how it is opened.

    Raises:
        NotPrimaryError: this node leads, so the others follow what this folder has.
        UsageError: there is no snapshot.
        DiskError: the folder cannot be replaced.
    """
    finish_renewal(folder, opening)
    side = _beside(folder)
    with ExitStack() as held:
        old = held.enter_context(Memory.open(folder, opening))
        for name in _LOCKS:
            held.enter_context(old.store.lock(name))
        place = read_deployment(folder)
        assert place is not None
        state = log.state(place.memory)
        if state.held and state.holder == place.node:
            raise NotPrimaryError(
                place.memory, why="this node leads; have another lead first, with 'deploy demote'"
            )
        begun = Deployment(place.memory, place.node, may_lead=place.may_lead, keep=place.keep)
        copy_memory(log, begun, side, opening)
        if Registry(log).last_purge(place.memory) <= place.seq:
            _carry_over(old, side, opening)
        _exchange(folder, side)
    return finish_renewal(folder, opening)


def _carry_over(old: Memory, side: Path, opening: Opening) -> None:
    """Take along what was kept or edited here and is not in the log; after a purge it is not."""
    kept = find_kept(old.store)
    if (old.root / ASIDE).is_dir():
        shutil.copytree(old.root / ASIDE, side / ASIDE, dirs_exist_ok=True)
    for path, content in _find_edits(old):
        if not is_own(path):
            name = f"{digest(content)[:12]}.{path.rpartition('/')[2][:120]}"
            edit = Entry("edited", path, old.store.journal.mark_of(path) or "", digest(content))
            note_aside(side, old.store.reconciler.judge(edit), name)
            (side / LOST / name).write_bytes(content)
    with Memory.open(side, opening) as copy:
        for _, path in kept:
            with suppress(FormatError):  # It is put aside.
                keep_again(copy.store, path, render_kept(read_kept(old.store, path)), copy.actor)


def finish_renewal(folder: Path, opening: Opening) -> list[str]:
    """Remove what a renewal replaced, or did not get done; return the files put aside."""
    side = _beside(folder)
    if not side.exists():
        return []
    ours, theirs = read_deployment(folder), read_deployment(side)
    # Which of the two is the old one, a process that died between tells by how far they got.
    replaced = ours is not None and theirs is not None and (theirs.broken or theirs.seq < ours.seq)
    kept = _put_aside(side, folder, opening) if replaced else []
    shutil.rmtree(side)
    return kept


def remove_folder(folder: Path) -> None:
    """Remove a folder that was a deployment, for good."""
    # By another name first: what is half removed is no memory that could be opened.
    gone = folder.with_name(f".{folder.name}.removed")
    folder.rename(gone)
    shutil.rmtree(gone)


def find_put_aside(folder: Path) -> list[str]:
    """Return the files of a deployment that were put aside, as no record has them."""
    place = folder / LOST
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.renewed")


def _exchange(folder: Path, side: Path) -> None:
    disk, above = Disk(), os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.sync()
        disk.exchange(side.name, above, folder.name, above)
        disk.fsync(above)
    except OSError as error:
        raise DiskError(str(folder), error, "Copy it into another folder") from error
    finally:
        os.close(above)


def _put_aside(old: Path, folder: Path, opening: Opening) -> list[str]:
    """Keep in a new folder what the old one had and no record has."""
    to = folder / LOST
    to.mkdir(parents=True, exist_ok=True)
    with Memory.open(old, opening) as memory:
        for path, content in _find_edits(memory):
            if is_own(path) and (folder / path).exists():
                continue
            name = f"{digest(content)[:12]}.{path.rpartition('/')[2][:120]}"
            (to / name).write_bytes(content)
    for one in (old / LOST).iterdir():
        if not (to / one.name).exists():
            shutil.copyfile(one, to / one.name)
    os.sync()
    return find_put_aside(folder)


def find_unlogged(memory: Memory) -> list[str]:
    """Return the files of a deployment with a content that no record has; not those of its own."""
    return [path for path, _ in _find_edits(memory) if not is_own(path)]


def _find_edits(memory: Memory) -> Iterator[tuple[str, bytes]]:
    store, place = memory.store, read_deployment(memory.root)
    partial = place is not None and bool(place.keep)
    for path in store.files():
        content, known = store.read(path), store.journal.mark_of(path)
        if path.endswith(KEPT):
            is_known = False  # No record has it.
        elif known is None:
            # It was there when the folder became a copy, or nobody knows it.
            is_known = (
                store.seen_mark(path) == digest(content)
                if partial
                else memory.history.content("HEAD", path) == content
            )
        else:
            is_known = known in (digest(content), mark_of(content))
        if not is_known:
            yield path, content
