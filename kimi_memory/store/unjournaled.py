"""What a store writes without its journal: views, its own folders, the mark that stops writes."""

from __future__ import annotations

from contextlib import ExitStack
from stat import S_ISREG

from kimi_memory.errors import StoreError
from kimi_memory.store.files.paths import PRIVATE, is_truth
from kimi_memory.store.files.tree import TEMPORARIES, Place, Tree

FOLDERS = ("tmp", "txn", "locks", "undo", "lost+found", "journal")
_MARK = "read-only"


def check_view(path: str, remedy: str) -> None:
    """Refuse a path that holds truth: written as a view, truth could vanish with the power."""
    if is_truth(path):
        raise StoreError(f"{path} holds truth; {remedy}.")


def write_view(tree: Tree, path: str, content: bytes, spare: str) -> None:
    """Write a view whole; `spare` is a name that it may have until it is."""
    with ExitStack() as stack:
        place = stack.enter_context(tree.place(path, make=True))
        folder = stack.enter_context(tree.folder(TEMPORARIES, make=True))
        passing = Place(folder, spare)
        tree.write(passing, content, sync=False)
        _swap_in(tree, passing, place)


def remove_view(tree: Tree, path: str) -> None:
    """Remove a view, if it is there."""
    try:
        with tree.place(path) as place:
            tree.disk.unlink(place.name, place.folder)
    except FileNotFoundError:
        return


def _swap_in(tree: Tree, passing: Place, place: Place) -> None:
    """Give a file its final name without a sync.

    Where a rename replaces a file, ext4 writes the new one out at once, which a
    view is not worth; swapping the two and removing the old one is as atomic.
    """
    disk = tree.disk
    try:
        is_plain = S_ISREG(disk.stat(place.name, place.folder).st_mode)
    except FileNotFoundError:
        is_plain = False
    if is_plain:
        disk.exchange(passing.name, passing.folder, place.name, place.folder)
        disk.unlink(passing.name, passing.folder)
    else:
        disk.rename(passing.name, passing.folder, place.name, place.folder)


def make_folders(tree: Tree) -> None:
    """Make what is not there."""
    for name in FOLDERS:
        with tree.folder(f"{PRIVATE}/{name}", make=True):
            pass
    with tree.folder(PRIVATE) as folder:
        try:
            # Inside somebody's repository, `git add` must not take the private files.
            tree.write(Place(folder, ".gitignore"), b"*\n", sync=False)
        except FileExistsError:
            return


def read_mark(tree: Tree) -> str:
    """Return why the store takes no writes; empty for one that does."""
    try:
        return tree.read(f"{PRIVATE}/{_MARK}").decode("utf-8", "replace")
    except FileNotFoundError:
        # As nearly always: the mark is written when a disk fails.
        return ""


def write_mark(tree: Tree, why: str) -> None:
    """Say why no writes are taken, for other processes, which have not met the broken disk."""
    try:
        with tree.folder(PRIVATE) as folder:
            tree.write(Place(folder, _MARK), why.encode())
    except OSError:
        # The disk refuses even this; this process knows it anyway.
        return


def remove_mark(tree: Tree) -> None:
    """Take writes again."""
    with tree.folder(PRIVATE) as folder:
        tree.discard(Place(folder, _MARK))
