"""Transactions, and what becomes of those that a crash left."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from secrets import token_hex
from types import MappingProxyType
from typing import NamedTuple

from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.disk import SyncError
from kimi_memory.store.files.locks import Locks, is_dead, owner
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import TEMPORARIES, Place, Tree
from kimi_memory.store.wal.commit_files import Keeper, Outcome, Placer, Step, entry_of
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.records import LOST, Entry, Provenance, repair_tail

FOLDER = f"{PRIVATE}/txn"
GROWING = ("short-term", "mid-term")
"""Folders whose ``.jsonl`` files are appended to."""
STORE = Actor(name="store")
_STAGED_NAMES = (".tmp", ".commit", ".done")
MANIFEST = "manifest.json"
# What this machine signed for another purpose never passes as a transaction.
_SEALED = b"txn\0"
_SWAP, _SPARE = ".swap", ".spare"
NO_WAITING: Mapping[str, Provenance] = MappingProxyType({})
_WRITTEN = tuple(name for name in Step._fields if name != "content")


class Intent(NamedTuple):
    """What a transaction is to do, and for whom."""

    id: str
    steps: tuple[Step, ...]
    actor: Actor
    waiting: Mapping[str, Provenance] = NO_WAITING
    """What waits for a person's word, by path."""


class Transactions:
    """Carries out intents, one at a time per set of paths."""

    def __init__(self, tree: Tree, journal: Journal, clock: Callable[[], datetime]) -> None:
        self._tree, self._disk, self._journal = tree, tree.disk, journal
        self._clock = clock
        self.owes = False
        """Whether something of this process waits for recovery."""

    @cached_property
    def keeper(self) -> Keeper:
        """Where losers of a race and replaced files go."""
        return Keeper(self._tree, self._clock)

    def run(self, intent: Intent) -> Outcome:
        """Stage, place and journal an intent; it is durable when this returns."""
        # A move touches two folders, and a crash may keep one of them as it was. A file that
        # a crash leaves without its record would be taken for a person's own.
        one = len(intent.steps) == 1 and intent.steps[0].kind != "move"
        if one and not intent.waiting:
            return self._run_one(intent)
        name = f"{intent.id}.{owner()}"
        with self._tree.folder(FOLDER, make=True) as folder:
            self._stage_intent(folder, name, intent)
            self._commit_staging(folder, name)
        try:
            return self.complete(f"{name}.commit", intent)
        except OSError:
            self.owes = True
            raise

    def complete(self, name: str, intent: Intent, *, resumed: bool = False) -> Outcome:
        """Place the files of a committed transaction, journal it and clear it away.

        A journaled transaction was placed; placing it again would undo what came later.
        """
        placer = Placer(self._tree, self.keeper, intent.id, resumed=resumed)
        journaled = self._journal.paths_of(intent.id) if resumed else set()
        if journaled:
            self._journal_rest(intent, journaled)
        else:
            try:
                self._place_all(name, intent, placer)
            except SyncError:
                raise  # what the disk holds is unknown: the next start finishes
            except OSError:
                if not resumed and placer.revert():
                    self._clear_transaction(name)
                raise
        self._clear_transaction(name)
        return placer.outcome

    def _commit_staging(self, folder: int, name: str) -> None:
        try:
            self._disk.rename(f"{name}.tmp", folder, f"{name}.commit", folder)
        except OSError:
            self._abandon_staging(f"{name}.tmp")
            raise
        try:
            self._disk.fsync(folder)
        except OSError:
            self._clear_transaction(f"{name}.commit")
            raise

    def _place_all(self, name: str, intent: Intent, placer: Placer) -> None:
        with self._tree.folder(f"{FOLDER}/{name}") as staged:
            for number, step in enumerate(intent.steps):
                placer.place(step, Place(staged, str(number)))
        placer.sync_folders()
        entries = _note_provenance(placer.outcome.entries, intent.waiting)
        self._journal.add(entries, intent.actor, txn=intent.id)

    def _journal_rest(self, intent: Intent, journaled: set[str]) -> None:
        """Journal what the crash cut off: such a file would be taken for somebody else's."""
        rest = [entry for entry in map(entry_of, intent.steps) if entry.path not in journaled]
        self._journal.add(_note_provenance(rest, intent.waiting), intent.actor, txn=intent.id)

    def read(self, name: str) -> Intent:
        """Return the intent of a committed transaction that this machine made.

        Raises:
            ValueError: it is damaged, or came with a folder from elsewhere.
        """
        body, _, seal = self._tree.read(f"{FOLDER}/{name}/{MANIFEST}").rpartition(b"\n")
        if not hmac.compare_digest(self._journal.sign(_SEALED + body), seal):
            raise ValueError("no transaction of this machine")
        return _parse_intent(body)

    def left_of(self, txn: str) -> list[str]:
        """Return the steps that remain of a transaction that was committed and not finished."""
        with self._tree.folder(FOLDER, make=True) as folder:
            names = sorted(self._disk.names(folder))
        return [name for name in names if name.startswith(f"{txn}.") and name.endswith(".commit")]

    def is_swap(self, name: str) -> bool:
        """Whether a temporary is one of this machine that was to be swapped with a file."""
        whole = name.removesuffix(_SPARE)
        begin, _, seal = whole.removesuffix(_SWAP).rpartition("-")
        return whole.endswith(_SWAP) and hmac.compare_digest(
            self._swap_seal(begin).encode(), seal.encode("utf-8", "surrogateescape")
        )

    def holds_ours(self, place: Place) -> bool:
        """Whether a temporary holds nothing but our bytes, or those they replaced."""
        if not self.is_swap(place.name):
            return True
        # The name holds the digests of both versions.
        marks = place.name.split(".")[2].split("-")[:2]
        return self._tree.digest(place, place.name)[:16] in marks

    def _swap_seal(self, begin: str) -> str:
        # A stranger's file may have a name that is no UTF-8.
        told = begin.encode("utf-8", "surrogateescape")
        return self._journal.sign(b"swap\0" + told)[:16].decode()

    def drop(self, name: str) -> None:
        """Remove a staging folder whose files were all placed, or none of them."""
        with self._tree.folder(FOLDER) as folder:
            with self._tree.folder(f"{FOLDER}/{name}") as staged:
                for file in self._disk.names(staged):
                    self._disk.unlink(file, staged)
            self._disk.rmdir(name, folder)

    def _clear_transaction(self, name: str) -> None:
        """Remove a finished transaction, now or, if the system refuses, before the next write."""
        done = name.removesuffix(".commit") + ".done"
        try:
            with self._tree.folder(FOLDER) as folder:
                # Renamed first: a crash while its files go must leave nothing that looks
                # committed.
                self._disk.rename(name, folder, done, folder)
            self.drop(done)
        except OSError:
            self.owes = True

    def _stage_intent(self, folder: int, name: str, intent: Intent) -> None:
        self._disk.mkdir(f"{name}.tmp", folder)
        try:
            with self._tree.folder(f"{FOLDER}/{name}.tmp") as staged:
                for number, step in enumerate(intent.steps):
                    if step.content is not None:
                        slot = Place(staged, str(number))
                        self._tree.write(slot, step.content, mode=step.mode)
                # After the files it names, so that a whole manifest means that all is there.
                body = _render_intent(intent)
                seal = self._journal.sign(_SEALED + body)
                self._tree.write(Place(staged, MANIFEST), body + b"\n" + seal)
                self._disk.fsync(staged)
        except OSError:
            self._abandon_staging(f"{name}.tmp")
            raise

    def _abandon_staging(self, name: str) -> None:
        try:
            self.drop(name)
        except OSError:
            self.owes = True

    def _run_one(self, intent: Intent) -> Outcome:
        placer = Placer(self._tree, self.keeper, intent.id)
        try:
            self._place_one(intent, placer)
            placer.sync_folders()
            self._journal.add(placer.outcome.entries, intent.actor, txn=intent.id)
        except SyncError:
            raise
        except OSError:
            placer.revert()
            raise
        return placer.outcome

    def _place_one(self, intent: Intent, placer: Placer) -> None:
        (step,) = intent.steps
        with self._tree.folder(TEMPORARIES, make=True) as folder:
            slot = Place(folder, f"{intent.id}.{owner()}.part")
            try:
                if step.content is not None and step.kind != "append":
                    self._tree.write(slot, step.content, mode=step.mode)
                if step.kind == "update":
                    slot = self._name_for_swap(slot, step)
                placer.place(step, slot)
            except OSError:
                if self.holds_ours(slot):
                    self._tree.discard(slot)
                raise

    def _name_for_swap(self, slot: Place, step: Step) -> Place:
        """Name a staged file so that recovery can tell what came out of a swap."""
        begin = f"{slot.name.removesuffix('.part')}.{step.before[:16]}-{step.after[:16]}"
        swap = Place(slot.folder, f"{begin}-{self._swap_seal(begin)}{_SWAP}")
        self._disk.rename(slot.name, slot.folder, swap.name, swap.folder)
        return swap


def _render_intent(intent: Intent) -> bytes:
    document = {
        "id": intent.id,
        "actor": [*intent.actor],
        "steps": [{name: getattr(step, name) for name in _WRITTEN} for step in intent.steps],
        "waiting": {path: [*one] for path, one in intent.waiting.items()},
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _parse_intent(content: bytes) -> Intent:
    document = json.loads(content)
    name, origin, *more = document["actor"]
    steps = tuple(Step(**step) for step in document["steps"])
    waiting = {path: Provenance(*one) for path, one in document.get("waiting", {}).items()}
    return Intent(document["id"], steps, Actor(name, Origin(origin), *more), waiting)


def _note_provenance(
    entries: Sequence[Entry], waiting: Mapping[str, Provenance]
) -> Sequence[Entry]:
    """Return entries with what is known of their contents; a copy that lost a race has the same."""
    found = ((entry, waiting.get(entry.of or entry.path)) for entry in entries)
    return [entry if one is None else entry._replace(**one._asdict()) for entry, one in found]


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
        # Only names are read: this is asked at every start and before every transaction.
        return any(is_dead("".join(mark)) for mark in (*staged, *passing))

    def run(self) -> list[Entry]:
        """Finish committed transactions, drop unfinished ones, sweep temporaries.

        Nobody else writes meanwhile, so whatever is left belongs to nobody.
        """
        found: list[Entry] = []
        for name in self._list_staged():
            # Its intent was durable before that name was given: it is finished, never taken back.
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
        return [name for name in self._list_names(FOLDER) if name.endswith(_STAGED_NAMES)]

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
            # No transaction was ever begun.
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
        """Move damaged and foreign files to where nothing reads them."""
        with self._tree.folder(path) as folder, self._tree.folder(LOST, make=True) as lost:
            try:
                self._disk.rename_noreplace(name, folder, name, lost)
            except FileExistsError:
                self._disk.rename(name, folder, f"{name}-{token_hex(4)}", lost)
