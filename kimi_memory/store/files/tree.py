"""The folder of a memory as the store sees it: places, reading, walking, temporaries.

What is written here has no journal: views, folders of the store, the mark that stops writes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import StoreError, UnsafePathError
from kimi_memory.store.files.disk import Disk, Stat, walk
from kimi_memory.store.files.paths import (
    PRIVATE,
    check,
    fold,
    is_kept,
    is_plain,
    is_truth,
    open_folder,
)

TEMPORARIES = f"{PRIVATE}/tmp"  # noqa: S108  a folder of our own
"""Holds what is on its way to its place; what a crash leaves there is swept."""
_OWN = ("tmp", "txn", "locks", "undo", "lost+found", "journal")
_MARK = "read-only"

_ABSENT = (FileNotFoundError, NotADirectoryError, PermissionError)
"""How a folder answers that is not there for us."""


Names = dict[str, dict[str, str]]
"""The names in each folder, by the form under which they meet; see `fold`."""


class Place(NamedTuple):
    """A name in an open folder."""

    folder: int
    name: str


class Tree:
    """A folder that is never left; everything in it is opened through here."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root = root
        self.disk = disk
        self.fd = disk.open(str(root), os.O_RDONLY | os.O_DIRECTORY)
        self._kept: dict[str, tuple[int, os.stat_result]] = {}
        self._left: list[int] = []

    def close(self) -> None:
        """Close the folder."""
        if self.fd >= 0:
            for fd in (*self._left, *(fd for fd, _ in self._kept.values()), self.fd):
                self.disk.close(fd)
            self._kept, self._left, self.fd = {}, [], -1

    def kept(self, path: str, *, make: bool = True) -> int:
        """Return a descriptor of a folder that stays open; the caller leaves it open.

        Every turn needs some folders several times. Somebody may remove them at any
        moment: what is returned is the folder that is at its path now.
        """
        held = self._kept.get(path)
        if held is not None:
            try:
                if same(held[1], self.disk.stat(path, self.fd)):
                    return held[0]
            except FileNotFoundError:
                pass
            # Another thread may be using it just now.
            # Closed with the memory.
            self._left.append(held[0])
            self._kept.pop(path, None)
        fd = self.enter(path.split("/"), make=make)
        self._kept[path] = fd, os.fstat(fd)
        return fd

    @contextmanager
    def folder(self, path: str, *, make: bool = False) -> Iterator[int]:
        """Open a folder of the memory by its trusted path; make it durably if asked."""
        fd = self.enter(path.split("/") if path else [], make=make)
        try:
            yield fd
        finally:
            self.disk.close(fd)

    @contextmanager
    def place(self, path: str, *, make: bool = False) -> Iterator[Place]:
        """Open the folder of a checked path."""
        *above, name = parts_of(path)
        with self.folder("/".join(above), make=make) as folder:
            yield Place(folder, name)

    def spot(self, path: str, *, make: bool = False) -> Place:
        """Return the place of a checked path, in a folder that stays open; see `kept`."""
        *above, name = parts_of(path)
        return Place(self.kept("/".join(above), make=make) if above else self.fd, name)

    def enter(self, parts: list[str], *, make: bool) -> int:
        """Return a descriptor of a folder, which the caller closes; see `folder`."""
        return self._open_or_make(parts) if make else self._open_existing(parts)

    def _open_existing(self, parts: list[str]) -> int:
        return self.disk.perform("open", open_folder, self.fd, parts)

    def _open_or_make(self, parts: list[str]) -> int:
        try:
            return self._open_existing(parts)
        except FileNotFoundError:
            above = self._open_or_make(parts[:-1])
        try:
            if PRIVATE not in parts:
                self.refuse_twin(Place(above, parts[-1]), "/".join(parts))
            self.disk.mkdir(parts[-1], above)
            # The name of a new folder lies in the folder above it.
            self.disk.fsync(above)
        finally:
            self.disk.close(above)
        return self._open_existing(parts)

    def refuse_twin(self, place: Place, path: str, known: Names | None = None) -> None:
        """Refuse a new name that another system would take for one that is there.

        Args:
            place: of the new name.
            path: the same, as a person reads it.
            known: what stands in folders that were listed for other names already; every name
                that was let through stands there, too.

        Raises:
            UnsafePathError: the two names differ only in case or Unicode form.
        """
        above, folders = path.rpartition("/")[0], {} if known is None else known
        if above not in folders:
            folders[above] = {fold(name): name for name in self.disk.names(place.folder)}
        there = folders[above].setdefault(fold(place.name), place.name)
        if there != place.name:
            raise UnsafePathError(path, f"it differs from {there!r} only in case")

    def open_file(self, place: Place, flags: int, path: str) -> int:
        """Open a plain file; one that is written to has no other name afterwards.

        Backups made with ``cp -al``, and tools that find files alike, give files second
        names (hard links). What is written here must not change what lies there.

        Raises:
            FileNotFoundError: it is not there.
            UnsafePathError: it is a link, a device or a folder.
        """
        fd, found = self._open_plain(place, flags, path)
        if found.st_nlink == 1 or flags & os.O_ACCMODE == os.O_RDONLY:
            return fd
        try:
            self._split_off(place, fd, stat.S_IMODE(found.st_mode))
        finally:
            self.disk.close(fd)
        return self._open_plain(place, flags, path)[0]

    def _open_plain(self, place: Place, flags: int, path: str) -> tuple[int, os.stat_result]:
        try:
            # Without it, opening a pipe waits for somebody to write.
            fd = self.disk.open(place.name, flags | os.O_NONBLOCK, at=place.folder)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.EISDIR, errno.ENXIO}:
                raise UnsafePathError(path, "it is a link or no plain file") from error
            raise
        found = os.fstat(fd)
        if stat.S_ISREG(found.st_mode):
            return fd, found
        self.disk.close(fd)
        raise UnsafePathError(path, "it is no plain file")

    def _split_off(self, place: Place, fd: int, mode: int) -> None:
        """Put a copy of an open file in its place, which has this one name."""
        with self.folder(TEMPORARIES, make=True) as aside:
            # Swept with what a crash leaves there: it holds the same bytes.
            copy = Place(aside, f"split.{os.urandom(8).hex()}")
            self.write(copy, self.disk.read(fd), mode=mode)
            self.disk.rename(copy.name, aside, place.name, place.folder)
            self.disk.fsync(place.folder)

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; FileNotFoundError and UnsafePathError are passed on."""
        with self.place(path) as place:
            return self.read_place(place, path)

    def read_place(self, place: Place, path: str) -> bytes:
        """Return the bytes of a file in an open folder."""
        fd = self.open_file(place, os.O_RDONLY, path)
        try:
            return self.disk.read(fd)
        finally:
            self.disk.close(fd)

    def digest(self, place: Place, path: str) -> str:
        """Return the SHA-256 of a file, or an empty string where there is none."""
        try:
            return hashlib.sha256(self.read_place(place, path)).hexdigest()
        except FileNotFoundError:
            # To compare with "nothing" is to ask whether it was made meanwhile.
            return ""

    def write(self, place: Place, content: bytes, *, mode: int = 0o600, sync: bool = True) -> None:
        """Write a new file, whole and durable, or leave none."""
        disk = self.disk
        fd = disk.open(
            place.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, at=place.folder, mode=0o600
        )
        try:
            disk.write(fd, content)
            if mode != 0o600:
                disk.chmod(fd, mode)
            if sync:
                disk.fsync(fd)
        except OSError:
            self.discard(place)
            raise
        finally:
            disk.close(fd)

    def discard(self, place: Place) -> None:
        """Remove a file of ours; what cannot be removed now is swept at the next start."""
        try:
            self.disk.unlink(place.name, place.folder)
        except OSError:
            return

    def write_view(self, path: str, content: bytes, spare: str) -> None:
        """Write a view whole; `spare` is a name that it may have until it is."""
        with ExitStack() as stack:
            place = stack.enter_context(self.place(path, make=True))
            folder = stack.enter_context(self.folder(TEMPORARIES, make=True))
            passing = Place(folder, spare)
            self.write(passing, content, sync=False)
            self._swap_in(passing, place)

    def remove_view(self, path: str) -> None:
        """Remove a view, if it is there."""
        try:
            with self.place(path) as place:
                self.disk.unlink(place.name, place.folder)
        except FileNotFoundError:
            return

    def _swap_in(self, passing: Place, place: Place) -> None:
        """Give a file its final name without a sync.

        Where a rename replaces a file, ext4 writes the new one out at once, which a
        view is not worth; swapping the two and removing the old one is as atomic.
        """
        disk = self.disk
        try:
            is_plain = stat.S_ISREG(disk.stat(place.name, place.folder).st_mode)
        except FileNotFoundError:
            is_plain = False
        if is_plain:
            disk.exchange(passing.name, passing.folder, place.name, place.folder)
            disk.unlink(passing.name, passing.folder)
        else:
            disk.rename(passing.name, passing.folder, place.name, place.folder)

    def make_private(self) -> None:
        """Make what is not there."""
        for name in _OWN:
            with self.folder(f"{PRIVATE}/{name}", make=True):
                pass
        with self.folder(PRIVATE) as folder:
            try:
                # Inside somebody's repository, `git add` must not take the private files.
                self.write(Place(folder, ".gitignore"), b"*\n", sync=False)
            except FileExistsError:
                return

    def read_mark(self) -> str:
        """Return why the store takes no writes; empty for one that does."""
        try:
            return self.read(f"{PRIVATE}/{_MARK}").decode("utf-8", "replace")
        except FileNotFoundError:
            # As nearly always: the mark is written when a disk fails.
            return ""

    def write_mark(self, why: str) -> None:
        """Say why no writes are taken, for other processes, which have not met the broken disk."""
        try:
            with self.folder(PRIVATE) as folder:
                self.write(Place(folder, _MARK), why.encode())
        except OSError:
            # The disk refuses even this; this process knows it anyway.
            return

    def remove_mark(self) -> None:
        """Take writes again."""
        with self.folder(PRIVATE) as folder:
            self.discard(Place(folder, _MARK))

    def walk(self, under: str = "") -> Iterator[tuple[str, Stat]]:
        """Yield path and signature of every plain file of truth with a safe path."""
        for _, listed in walk(str(self.root), f"{under}/" if under else "", is_kept):
            yield from listed.files.items()

    def strays(self) -> list[str]:
        """Return paths that hold no truth only because their name or kind is unsafe."""
        return sorted(
            path
            for prefix, entries in self._walk_folders("")
            for entry in entries
            if is_truth(path := prefix + entry.name)
            and not (entry.is_file(follow_symlinks=False) and is_plain(path))
        )

    def _walk_folders(self, under: str) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
        """Yield folders, each as what its paths begin with, and what is in it but folders."""
        pending = [under]
        while pending:
            folder = pending.pop()
            prefix = f"{folder}/" if folder else ""
            try:
                with os.scandir(self.root / folder) as found:
                    seen = [entry for entry in found if entry.name[0] != "."]
            except _ABSENT:
                continue
            pending += [prefix + one.name for one in seen if one.is_dir(follow_symlinks=False)]
            yield prefix, [one for one in seen if not one.is_dir(follow_symlinks=False)]


def same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether two looks were at the same file or folder."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def parts_of(path: str) -> tuple[str, ...]:
    """Check a path and return its components; the private folder may lead it."""
    head, _, rest = path.partition("/")
    return (head, *check(rest)) if head == PRIVATE else check(path)


def check_view(path: str, remedy: str) -> None:
    """Refuse a path that holds truth: written as a view, truth could vanish with the power."""
    if is_truth(path):
        raise StoreError(f"{path} holds truth; {remedy}.")
