"""Taking back what a failed transaction had placed, so that nothing was changed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.tree import Place, Tree
from kimi_memory.store.wal.plan import Step
from kimi_memory.store.wal.preimages import FOLDER as UNDO


def revert(tree: Tree, placed: Sequence[tuple[Step, str]]) -> bool:
    """Take steps back, last first; `placed` names the undo file of each.

    What somebody changed since is left to them. Returns whether all went well; if
    not, the transaction is finished by the next start instead.
    """
    try:
        for step, undo in reversed(placed):
            _revert_step(tree, step, undo)
    except (OSError, UnsafePathError):
        return False
    return True


def _revert_step(tree: Tree, step: Step, undo: str) -> None:
    with tree.folder(UNDO, make=True) as folder, tree.place(step.path, make=True) as place:
        match step.kind:
            case "create":
                if tree.digest(place, step.path) == step.after:
                    tree.disk.unlink(place.name, place.folder)
            case "update":
                _swap_back(tree, Place(folder, undo), place, step)
            case "append":
                _cut_appended(tree, place, step)
            case "move":
                with tree.place(step.to) as new:
                    tree.disk.rename_noreplace(new.name, new.folder, place.name, place.folder)
            case _:
                tree.disk.rename_noreplace(undo, folder, place.name, place.folder)
        tree.disk.fsync(place.folder)


def _swap_back(tree: Tree, old: Place, place: Place, step: Step) -> None:
    disk = tree.disk
    disk.exchange(old.name, old.folder, place.name, place.folder)
    if tree.digest(old, old.name) == step.after:
        disk.unlink(old.name, old.folder)
    else:
        disk.exchange(old.name, old.folder, place.name, place.folder)


def _cut_appended(tree: Tree, place: Place, step: Step) -> None:
    fd = tree.open_file(place, os.O_RDWR | os.O_APPEND, step.path)
    try:
        size = os.fstat(fd).st_size
        if tree.disk.read_at(fd, size, step.offset) == step.content:
            tree.disk.truncate(fd, step.offset)
            tree.disk.fdatasync(fd)
    finally:
        tree.disk.close(fd)
