"""Recovery: what a crash left is finished, dropped or kept where a person finds it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from secrets import token_hex

from kimi_memory.domain.change import Actor
from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.locks import Locks, is_dead
from kimi_memory.store.files.tree import TEMPORARIES, Place, Tree
from kimi_memory.store.wal.append_log import LOST, repair_tail
from kimi_memory.store.wal.entries import Entry
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.transaction import FOLDER, Transactions

GROWING = ("short-term", "mid-term")
"""Folders whose ``.jsonl`` files are appended to."""
STORE = Actor(name="store")
_SWAP = ".swap"
_STAGES = (".tmp", ".commit", ".done")


class Recovery:
    """Brings a memory into a whole state; needs the ``store`` lock alone."""

    def __init__(
        self, tree: Tree, locks: Locks, journal: Journal, transactions: Transactions
    ) -> None:
        self._tree, self._disk = tree, tree.disk
        self._locks, self._journal, self._transactions = locks, journal, transactions

    def is_due(self) -> bool:
        """Whether a process that is gone left something behind."""
        staged = (name.split(".")[1:2] for name in self._list_staged())
        passing = (name.split(".")[1:2] for name in self._list_names(TEMPORARIES))
        return any(is_dead("".join(mark)) for mark in (*staged, *passing))

    def run(self) -> list[Entry]:
        """Finish committed transactions, drop unfinished ones, sweep temporaries.

        Nobody else writes meanwhile, so whatever is left belongs to nobody.
        """
        found: list[Entry] = []
        for name in self._list_staged():
            if name.endswith(".commit"):
                found += self._finish_transaction(name)
                continue
            try:
                self._transactions.drop(name)
            except (IsADirectoryError, NotADirectoryError, UnsafePathError):
                self._put_aside(FOLDER, name)
        kept = self._sweep_temporaries()
        self._journal.add(kept, STORE)
        return found + kept

    def _list_staged(self) -> list[str]:
        return [name for name in self._list_names(FOLDER) if name.endswith(_STAGES)]

    def _finish_transaction(self, name: str) -> list[Entry]:
        try:
            intent = self._transactions.read(name)
        except (ValueError, KeyError, TypeError, FileNotFoundError, UnsafePathError):
            # Damaged, or another machine's: not carried out, and nothing of it is thrown away.
            self._put_aside(FOLDER, name)
            return []
        return self._transactions.complete(name, intent, resumed=True).entries

    def mend_tails(self, stamp: str) -> None:
        """Cut torn last lines of growing files off into lost+found."""
        for path in self._yield_growing_files():
            with self._locks.stripes([path], op="mend"), self._tree.place(path) as place:
                try:
                    fd = self._tree.open_file(place, os.O_RDWR | os.O_APPEND, path)
                except FileNotFoundError:
                    continue  # Another process archived the session since we looked.
                try:
                    repair_tail(self._tree, fd, path, stamp)
                finally:
                    self._disk.close(fd)

    def _yield_growing_files(self) -> Iterable[str]:
        for folder in GROWING:
            for name in self._list_names(folder):
                if name.endswith(".jsonl"):
                    yield f"{folder}/{name}"

    def _list_names(self, path: str) -> list[str]:
        try:
            with self._tree.folder(path) as folder:
                return sorted(self._disk.names(folder))
        except FileNotFoundError:
            return []

    def _sweep_temporaries(self) -> list[Entry]:
        """Remove temporaries; one that was swapped may hold a person's bytes and is kept."""
        kept: list[Entry] = []
        with self._tree.folder(TEMPORARIES, make=True) as folder:
            for name in sorted(self._disk.names(folder)):
                place = Place(folder, name)
                if self._disk.stat(name, folder).st_nlink > 1:
                    self._remove_temporary(
                        place
                    )  # a spare name of a file that is still in its place
                elif _SWAP in name and not self._transactions.is_swap(name):
                    self._put_aside(TEMPORARIES, name)  # a stranger's, or an earlier version's
                elif self._transactions.holds_ours(place):
                    self._remove_temporary(place)
                else:
                    kept.append(self._transactions.keeper.keep_beside(place, "recovered.md"))
        return kept

    def _remove_temporary(self, place: Place) -> None:
        try:
            self._disk.unlink(place.name, place.folder)
        except IsADirectoryError:
            self._put_aside(TEMPORARIES, place.name)

    def _put_aside(self, path: str, name: str) -> None:
        """Move what is not ours, or damaged, to where nothing reads it."""
        with self._tree.folder(path) as folder, self._tree.folder(LOST, make=True) as lost:
            try:
                self._disk.rename_noreplace(name, folder, name, lost)
            except FileExistsError:
                self._disk.rename(name, folder, f"{name}-{token_hex(4)}", lost)
