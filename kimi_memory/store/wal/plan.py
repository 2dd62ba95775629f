"""Plans: changes checked against what is on disk, before anything is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kimi_memory.domain.change import Append, Change, Create, Effect, Move, Update, digest
from kimi_memory.errors import ChangedOnDiskError, StoreError
from kimi_memory.store.files.paths import check, is_truth
from kimi_memory.store.files.tree import Place, Tree
from kimi_memory.store.wal.append_log import is_torn, last_line, repair_tail


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


def paths_of(changes: Iterable[Change]) -> list[str]:
    """Return the checked paths that changes touch.

    Raises:
        UnsafePathError: a path is not safe.
        StoreError: a path is named twice, or is no place for truth.
    """
    found: list[str] = []
    for change in changes:
        found += [change.path, change.to] if isinstance(change, Move) else [change.path]
    for path in found:
        check(path)
        if not is_truth(path):
            raise StoreError(f"{path} is a view or passing file; only truth is changed here.")
    twice = (
        {path for path in found if found.count(path) > 1} if len(set(found)) < len(found) else ()
    )
    if twice:
        raise StoreError(f"{', '.join(sorted(twice))}: one set of changes names it twice.")
    return found


def plan(tree: Tree, changes: Sequence[Change], stamp: str) -> list[Step]:
    """Check changes against the disk; the caller holds the locks of their paths.

    Changes that change nothing are left out.

    Raises:
        ChangedOnDiskError: a file is not what the change was made for.
        UnsafePathError: a place is not safe.
    """
    steps = [_plan_step(tree, change, stamp) for change in changes]
    # Writing the same bytes anew would make every cache read the file again.
    return [step for step in steps if step.kind != "update" or step.before != step.after]


def _plan_step(tree: Tree, change: Change, stamp: str) -> Step:
    match change:
        case Create(path, content):
            _refuse_taken(tree, path)
            return Step("create", path, after=digest(content), content=content)
        case Update(path, base, content):
            mode = _expect_content(tree, path, base)
            return Step("update", path, "", base, digest(content), 0, mode, content)
        case Append(path, lines):
            return _plan_append(tree, path, lines, stamp)
        case Move(path, to, base):
            _expect_content(tree, path, base)
            _refuse_taken(tree, to)
            return Step("move", path, to, base, base)
    _expect_content(tree, change.path, change.base)
    return Step("delete", change.path, before=change.base)


def _refuse_taken(tree: Tree, path: str) -> None:
    try:
        with tree.place(path) as place:
            tree.refuse_twin(place, path)
            tree.disk.stat(place.name, place.folder)
    except FileNotFoundError:
        return
    raise ChangedOnDiskError(path)


def _expect_content(tree: Tree, path: str, base: str) -> int:
    """Return the mode of the file, which must hash to `base`."""
    try:
        with tree.place(path) as place:
            if tree.digest(place, path) == base:
                return stat.S_IMODE(tree.disk.stat(place.name, place.folder).st_mode)
    except FileNotFoundError:
        pass
    raise ChangedOnDiskError(path)


def check_lines(lines: Sequence[bytes]) -> bytes:
    """Return lines in one piece; StoreError unless each ends in its only newline."""
    for line in lines:
        if not line or line.find(b"\n") != len(line) - 1:
            raise StoreError("An appended line ends in a newline and holds no other.")
    return b"".join(lines)


def _plan_append(tree: Tree, path: str, lines: Sequence[bytes], stamp: str) -> Step:
    added = check_lines(lines)
    try:
        with tree.place(path) as place:
            _mend_torn(tree, place, path, stamp)
            old = tree.read_place(place, path)
    except FileNotFoundError:
        _refuse_taken(tree, path)
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
