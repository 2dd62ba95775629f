"""Plans of changes checked against the disk, and staged files put in their place.

What a plan replaces is kept for a while. To do it twice is to do it once.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from errno import ENOENT
from typing import NamedTuple

from kimi_memory.domain.ids import new_session_id
from kimi_memory.domain.job import Append, Change, Create, Effect, Move, Update, digest
from kimi_memory.errors import ChangedOnDiskError, UnsafePathError
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Names, Place, Tree
from kimi_memory.store.wal.records import (
    Entry,
    append_whole,
    check_lines,
    is_torn,
    last_line,
    repair_tail,
)

UNDO = f"{PRIVATE}/undo"
CONFLICTS = "conflicts"
_NAME = re.compile(r"(?:old|gone)\.[^.]+\.[0-9a-f]*\..+|late\.[0-9a-z]+", re.DOTALL)
"""Of what we keep here; whatever else lies here stays where nothing reads it."""
# An editor that still has the old file open saves into it within so long, if at all.
GRACE_SECONDS = 60.0
# A month is what people need to notice that something is missing.
DELETED_SECONDS = 30 * 86400.0


class Step(NamedTuple):
    """One change, ready to be staged and put in its place, more than once if need be."""

    kind: str
    """create, update, append, move or delete."""
    path: str
    to: str = ""
    """Where a move goes."""
    before: str = ""
    after: str = ""
    """Hash of the file's bytes afterwards; empty when it will be gone."""
    offset: int = 0
    """Where appended bytes begin."""
    mode: int = 0o600
    content: bytes | None = None
    """What is staged: the new bytes, or the bytes to append."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What the step does to files when nobody interferes."""
        if self.kind == "move":
            return Effect(self.path, self.before, ""), Effect(self.to, "", self.after)
        return (Effect(self.path, self.before, self.after),)


def plan(tree: Tree, changes: Sequence[Change], stamp: str) -> list[Step]:
    """Check changes against the disk; the caller holds the locks of their paths.

    Changes that change nothing are left out.

    Raises:
        ChangedOnDiskError: a file is not what the change was made for.
        UnsafePathError: a place is not safe.
    """
    # Each folder is listed once, however many files are new in it.
    names: Names = {}
    steps = [_plan_step(tree, change, stamp, names) for change in changes]
    # Writing the same bytes anew would make every cache read the file again.
    return [step for step in steps if step.kind != "update" or step.before != step.after]


def _plan_step(tree: Tree, change: Change, stamp: str, names: Names) -> Step:
    match change:
        case Create(path, content):
            _refuse_taken(tree, path, names)
            return Step("create", path, after=digest(content), content=content)
        case Update(path, base, content):
            mode = _expect_content(tree, path, base)
            return Step("update", path, "", base, digest(content), 0, mode, content)
        case Append(path, lines):
            return _plan_append(tree, path, lines, stamp, names)
        case Move(path, to, base):
            _expect_content(tree, path, base)
            _refuse_taken(tree, to, names)
            return Step("move", path, to, base, base)
    _expect_content(tree, change.path, change.base)
    return Step("delete", change.path, before=change.base)


def _refuse_taken(tree: Tree, path: str, names: Names) -> None:
    try:
        with tree.place(path) as place:
            # On macOS and Windows two names that differ in case are one file, and the second write
            # would take the first away.
            tree.refuse_twin(place, path, names)
            tree.disk.stat(place.name, place.folder)
    except FileNotFoundError:
        return
    raise ChangedOnDiskError(path)


def _expect_content(tree: Tree, path: str, base: str) -> int:
    """Return the mode of the file, which must hash to `base`."""
    try:
        with tree.place(path) as place:
            # By content and not by time: a sync tool sets times as it likes.
            if tree.digest(place, path) == base:
                return stat.S_IMODE(tree.disk.stat(place.name, place.folder).st_mode)
    except FileNotFoundError:
        pass
    raise ChangedOnDiskError(path)


def _plan_append(tree: Tree, path: str, lines: Sequence[bytes], stamp: str, names: Names) -> Step:
    added = check_lines(lines)
    try:
        with tree.place(path) as place:
            _mend_torn(tree, place, path, stamp)
            old = tree.read_place(place, path)
    except FileNotFoundError:
        _refuse_taken(tree, path, names)
        return Step("create", path, after=digest(added), content=added)
    # A person's editor left the last line open.
    if old and not old.endswith(b"\n"):
        added = b"\n" + added
    return Step(
        "append", path, "", digest(old), digest(old + added), offset=len(old), content=added
    )


def _mend_torn(tree: Tree, place: Place, path: str, stamp: str) -> None:
    fd = tree.open_file(place, os.O_RDWR | os.O_APPEND, path)
    try:
        if is_torn(last_line(tree.disk, fd, os.fstat(fd).st_size), path):
            repair_tail(tree, fd, path, stamp)
    finally:
        tree.disk.close(fd)


def undo_name(mark: str, digest: str, path: str, *, deleted: bool) -> str:
    """Return the name in the undo area for the bytes of a path, whose hash is known."""
    kind = "gone" if deleted else "old"
    return f"{kind}.{mark}.{digest}.{clip(path.rpartition('/')[2], 100)}"


def clip(name: str, size: int) -> str:
    """Cut a name to so many bytes, at a character."""
    # Windows drops spaces and dots at the end of a name, and would not find the file again.
    return name.encode()[:size].decode("utf-8", "ignore").rstrip(" .")


def conflict_path(path: str, at: datetime) -> str:
    """Return a fresh path under ``conflicts/`` for the other version of a file."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (clip(stem, 150), clip(suffix, 20)) if dot and stem else (clip(name, 150), "md")
    # Random: two conflicts of one file within a second must both be kept.
    short = new_session_id(at)[-8:]
    return f"{CONFLICTS}/{stem}.{at:%Y%m%dT%H%M%SZ}.{short}.{suffix}"


class Keeper:
    """Keeps what must not be lost: conflict copies and the undo area."""

    def __init__(self, tree: Tree, clock: Callable[[], datetime]) -> None:
        self._tree, self._clock = tree, clock

    def keep_beside(self, place: Place, path: str) -> Entry:
        """Move a file into ``conflicts/``, durably; return what to journal."""
        target = conflict_path(path, self._clock())
        with self._tree.place(target, make=True) as spot:
            self._tree.disk.rename_noreplace(place.name, place.folder, spot.name, spot.folder)
            self._tree.disk.fsync(spot.folder)
            return Entry("conflict", target, "", self._tree.digest(spot, target), of=path)

    def write_beside(self, content: bytes, path: str) -> Entry:
        """Write a version that is on disk no more into ``conflicts/``."""
        with self._tree.folder(UNDO, make=True) as folder:
            spare = Place(folder, f"late.{new_session_id(self._clock())}")
            self._tree.write(spare, content)
            return self.keep_beside(spare, path)

    def drop(self, grace_seconds: float, deleted_seconds: float) -> list[Entry]:
        """Remove what was kept long enough; what changed since is kept as a conflict.

        An editor that held the file open may have written to it after it was
        replaced; such bytes are a person's and nowhere else.
        """
        found: list[Entry] = []
        with self._tree.folder(UNDO, make=True) as folder:
            for name in sorted(self._tree.disk.names(folder)):
                keep = deleted_seconds if name.startswith("gone.") else grace_seconds
                # The time of the rename: that of the content may be years ago.
                age = time.time() - self._tree.disk.stat(name, folder).st_ctime
                if age >= keep and _NAME.fullmatch(name):
                    found += self._drop_preimage(Place(folder, name))
        return found

    def _drop_preimage(self, place: Place) -> list[Entry]:
        parts = place.name.split(".", 3)
        digest, name = (parts[2], parts[3]) if len(parts) == 4 else ("", place.name)
        if self._tree.digest(place, place.name) != digest:
            return [self.keep_beside(place, name)]
        self._tree.disk.unlink(place.name, place.folder)
        return []


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
