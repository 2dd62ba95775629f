"""The folders of a store under ``.kimi/``, and the mark that it takes no writes."""

from __future__ import annotations

from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Place, Tree

FOLDERS = ("tmp", "txn", "locks", "undo", "lost+found", "journal")
_MARK = "read-only"


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
        return ""


def write_mark(tree: Tree, why: str) -> None:
    """Say why no writes are taken, for other processes, which have not met the broken disk."""
    try:
        with tree.folder(PRIVATE) as folder:
            tree.write(Place(folder, _MARK), why.encode())
    except OSError:
        return


def remove_mark(tree: Tree) -> None:
    """Take writes again."""
    with tree.folder(PRIVATE) as folder:
        tree.discard(Place(folder, _MARK))
