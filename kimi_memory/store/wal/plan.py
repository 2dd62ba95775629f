"""Plans: changes checked against what is on disk, and what they replace, kept for a while."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from kimi_memory.domain.change import Append, Change, Create, Effect, Move, Update, digest
from kimi_memory.domain.ids import new_session_id
from kimi_memory.errors import ChangedOnDiskError
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Names, Place, Tree
from kimi_memory.store.wal.records import Entry, check_lines, is_torn, last_line, repair_tail

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
