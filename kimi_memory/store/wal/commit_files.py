"""Putting staged files in their place, so that doing it twice is doing it once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from errno import ENOENT

from kimi_memory.domain.change import Effect
from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.tree import Place, Tree
from kimi_memory.store.wal.plan import UNDO, Keeper, Step, undo_name
from kimi_memory.store.wal.records import Entry, append_whole

# An editor that saves all the time must not keep us here for ever.
_SWAPS = 16


class Outcome:
    """What came of some steps."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.effects: list[Effect] = []

    @property
    def kept(self) -> tuple[str, ...]:
        """Conflict copies that were made."""
        return tuple(entry.path for entry in self.entries if entry.op == "conflict")


def entry_of(step: Step) -> Entry:
    """Return the record of a step that was carried out."""
    if step.kind == "move":
        return Entry("move", step.to, step.before, step.after, was=step.path)
    return Entry(step.kind, step.path, step.before, step.after)


def append_bytes(disk: Disk, fd: int, added: bytes, offset: int, *, sync: bool = True) -> None:
    """Add bytes at the end of a file, where an earlier try may have got part of the way.

    Raises:
        OSError: nothing was added.
    """
    size = os.fstat(fd).st_size
    tail = disk.read_at(fd, max(0, size - offset), offset)
    if added in tail:
        if sync:
            disk.fdatasync(fd)
        return
    # A crash cut an earlier try short.
    if tail and added.startswith(tail):
        disk.truncate(fd, offset)
        size = offset
    append_whole(disk, fd, added, size, sync=sync)


class Placer:
    """Carries out the steps of one transaction.

    Args:
        tree: the memory.
        keeper: where losers of a race and replaced files go.
        mark: names the transaction in the undo area.
        resumed: whether an earlier process may have done some of it.
    """

    def __init__(self, tree: Tree, keeper: Keeper, mark: str, *, resumed: bool = False) -> None:
        self._tree, self._disk = tree, tree.disk
        self._keeper, self._mark, self._resumed = keeper, mark, resumed
        self._count = 0
        self._touched: set[str] = set()
        self._placed: list[tuple[Step, str]] = []
        self.outcome = Outcome()

    def sync_folders(self) -> None:
        """Make all names that were changed durable."""
        for path in sorted(self._touched):
            with self._tree.folder(path) as folder:
                self._disk.fsync(folder)

    def revert(self) -> bool:
        """Take back what was placed; return whether the files are as they were."""
        return not self.outcome.kept and revert(self._tree, self._placed)

    def place(self, step: Step, slot: Place) -> None:
        """Carry out one step; `slot` is its staged file, if it has one."""
        self._count += 1
        match step.kind:
            case "create":
                self._create_file(step, slot)
            case "update":
                self._update_file(step, slot)
            case "append":
                self._append_content(step, slot)
            case "move":
                self._move_file(step)
            case _:
                self._delete_file(step)

    def _record_step(self, step: Step, undo: str = "") -> None:
        entry = entry_of(step)
        self.outcome.entries.append(entry._replace(undo=undo) if undo else entry)
        self.outcome.effects += step.effects

    def _record_conflict(self, entry: Entry) -> None:
        self.outcome.entries.append(entry)
        self.outcome.effects.append(Effect(entry.path, "", entry.after))

    def _digest_place(self, place: Place) -> str:
        """Hash whatever is there; what is no plain file is like nothing we know."""
        try:
            return self._tree.digest(place, place.name)
        except UnsafePathError:
            # Like no hash: whatever was expected, this is something else.
            return "?"

    def _open_touched(self, path: str, *, make: bool = False) -> AbstractContextManager[Place]:
        self._touched.add(path.rpartition("/")[0])
        return self._tree.place(path, make=make)

    def _undo_name(self, step: Step, *, deleted: bool) -> str:
        mark = f"{self._mark}-{self._count}"
        return undo_name(mark, step.before, step.path, deleted=deleted)

    def _create_file(self, step: Step, slot: Place) -> None:
        with self._open_touched(step.path, make=True) as place:
            try:
                # Refused where somebody made the file since we looked, so theirs is never
                # replaced.
                self._disk.rename_noreplace(slot.name, slot.folder, place.name, place.folder)
                self._placed.append((step, ""))
            except FileExistsError:
                if not self._resumed or self._digest_place(place) != step.after:
                    self._record_conflict(self._keeper.keep_beside(slot, step.path))
                    return
                self._disk.unlink(slot.name, slot.folder)
            except FileNotFoundError:
                if not self._resumed:
                    raise
        self._record_step(step)

    def _update_file(self, step: Step, slot: Place) -> None:
        put, expect = step.after, step.before
        if self._resumed:
            with self._tree.place(step.path, make=True) as place:
                put, expect = self._resume_update(step, slot, place)
        with (
            self._tree.folder(UNDO, make=True) as undo,
            self._open_touched(step.path) as place,
        ):
            if put:
                put, expect = self._swap_until_expected(slot, place, put, expect)
            if put in {"", step.after}:
                name = self._undo_name(step, deleted=False)
                self._move_to_undo(slot, place, Place(undo, name))
                self._placed.append((step, name))
                self._record_step(step, name)
            else:
                self._keep_loser(step, slot, expect)

    def _resume_update(self, step: Step, slot: Place, place: Place) -> tuple[str, str]:
        """Return what lies in the slot and what is expected in place; empty when all is done."""
        staged = self._digest_place(slot)
        if staged in {"", step.before}:
            return "", ""
        if staged != step.after:
            return staged, step.after
        if self._digest_place(place) == step.after:
            self._disk.unlink(slot.name, slot.folder)
            return "", ""
        return step.after, step.before

    def _swap_until_expected(
        self, slot: Place, place: Place, put: str, expect: str
    ) -> tuple[str, str]:
        """Swap slot and place until what comes out is what the last swap put in.

        A writer that saves meanwhile thus ends up in place. Returns what is in place and
        what is in the slot.
        """
        for _ in range(_SWAPS):
            try:
                self._disk.exchange(slot.name, slot.folder, place.name, place.folder)
            except FileNotFoundError:
                # A person removed it between our look and the swap.
                return "gone", put
            try:
                out = self._digest_place(slot)
            except OSError:
                self._disk.exchange(slot.name, slot.folder, place.name, place.folder)
                raise
            if out == expect:
                break
            put, expect = out, put
        return put, expect

    def _move_to_undo(self, slot: Place, place: Place, spot: Place) -> None:
        try:
            self._disk.rename(slot.name, slot.folder, spot.name, spot.folder)
        except OSError as error:
            # Back as it was: without the old version in the undo area nothing could take this
            # back.
            if not self._resumed or error.errno != ENOENT:
                self._disk.exchange(slot.name, slot.folder, place.name, place.folder)
                raise

    def _keep_loser(self, step: Step, slot: Place, held: str) -> None:
        """Keep our version beside; the person's is in place."""
        if held != step.after and step.content is not None:
            self._record_conflict(self._keeper.write_beside(step.content, step.path))
        self._record_conflict(self._keeper.keep_beside(slot, step.path))

    def _append_content(self, step: Step, slot: Place) -> None:
        added = self._tree.read_place(slot, step.path) if step.content is None else step.content
        with self._tree.place(step.path, make=True) as place:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            fd = self._tree.open_file(place, flags, step.path)
            try:
                append_bytes(self._disk, fd, added, step.offset)
                self._placed.append((step, ""))
            finally:
                self._disk.close(fd)
        self._record_step(step)

    def _move_file(self, step: Step) -> None:
        with (
            self._open_touched(step.to, make=True) as new,
            self._open_touched(step.path, make=True) as old,
        ):
            try:
                self._disk.rename_noreplace(old.name, old.folder, new.name, new.folder)
                self._placed.append((step, ""))
            except (FileNotFoundError, FileExistsError):
                if not self._resumed or self._digest_place(new) != step.after:
                    return  # somebody moved, deleted or made one of the two: theirs stands
                if self._digest_place(old) == step.before:
                    self._disk.unlink(old.name, old.folder)
        self._record_step(step)

    def _delete_file(self, step: Step) -> None:
        name = self._undo_name(step, deleted=True)
        with self._tree.folder(UNDO, make=True) as folder, self._open_touched(step.path) as place:
            try:
                self._disk.rename_noreplace(place.name, place.folder, name, folder)
            except (FileNotFoundError, FileExistsError):
                self._record_step(step, name)  # gone already, by an earlier try or by somebody else
                return
            self._placed.append((step, name))
            if self._digest_place(Place(folder, name)) == step.before:
                self._touched.add(UNDO)
                self._record_step(step, name)
            else:
                self._put_back(step, Place(folder, name), place)

    def _put_back(self, step: Step, taken: Place, place: Place) -> None:
        """Undo a deletion that met a person's edit."""
        try:
            self._disk.rename_noreplace(taken.name, taken.folder, place.name, place.folder)
            self._placed.pop()
        except FileExistsError:
            self._record_conflict(self._keeper.keep_beside(taken, step.path))


def revert(tree: Tree, placed: Sequence[tuple[Step, str]]) -> bool:
    """Take steps back, last first; `placed` names the undo file of each.

    What somebody changed since is left to them. Returns whether all went well; if
    not, the transaction is finished by the next start instead.
    """
    try:
        # Last first: a step may stand on what an earlier one made.
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
