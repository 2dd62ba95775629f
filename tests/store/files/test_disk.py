"""The disk: older file systems, odd answers, and what errors say."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor, Create, Move, Update, digest
from kimi_memory.errors import ChangedOnDiskError, DiskError, UnsafePathError
from kimi_memory.store.files import disk as disk_calls
from kimi_memory.store.files.disk import (
    UNKNOWN,
    Disk,
    SyncError,
    lay,
    list_folder,
    refusal,
    settled_stat,
    signature,
    state_of,
    walk,
)
from kimi_memory.store.files.tree import Place, Tree
from kimi_memory.store.store import Store

ONE, TWO = b"one", b"two"

NOW = 1_772_000_000_123_456_789


class OldDisk(Disk):
    """A file system without the newer kinds of rename."""

    def __init__(self, number: int = errno.EINVAL) -> None:
        self.number = number

    def perform(self, name, call, *args, **kwargs):
        if name in {"noreplace", "exchange"}:
            raise OSError(self.number, os.strerror(self.number))
        return super().perform(name, call, *args, **kwargs)


@pytest.fixture
def at(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY)
    yield fd
    os.close(fd)


def test_an_old_file_system_serves(folder: Path, actor: Actor) -> None:
    with Store.open(folder, key=b"k", disk=OldDisk()) as store:
        store.apply([Create("a.md", ONE)], actor)
        store.apply([Update("a.md", digest(ONE), TWO)], actor)
        store.apply([Move("a.md", "b.md", digest(TWO)), Create("c.md", ONE)], actor)
        assert {p: store.read(p) for p in store.files()} == {"b.md": TWO, "c.md": ONE}
        with pytest.raises(ChangedOnDiskError):
            store.apply([Create("b.md", ONE)], actor)
        assert store.drop_undo(0) == ()
        assert store.journal.verify() == []


def test_other_refusals_of_a_rename_are_told(at: int, folder: Path) -> None:
    disk = OldDisk(errno.EACCES)
    for rename in (disk.rename_noreplace, disk.exchange):
        with pytest.raises(PermissionError):
            rename("a", at, "b", at)
    (folder / "a").write_bytes(ONE)
    (folder / "b").write_bytes(TWO)
    with pytest.raises(FileExistsError):
        Disk().rename_noreplace("a", at, "b", at)
    Disk().exchange("a", at, "b", at)
    assert (folder / "a").read_bytes() == TWO


def test_a_library_without_the_call_uses_the_kernel(
    at: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = disk_calls.ctypes.CDLL(None, use_errno=True)

    class Bare:
        def __init__(self, *_: object, **__: object) -> None:
            self.syscall = real.syscall

    monkeypatch.setattr(disk_calls.ctypes, "CDLL", Bare)
    monkeypatch.setattr(disk_calls, "_renameat2", disk_calls._libc_rename())
    (folder / "a").write_bytes(ONE)
    Disk().rename_noreplace("a", at, "b", at)
    assert (folder / "b").read_bytes() == ONE


def test_a_write_that_takes_nothing_is_a_full_disk(at: int) -> None:
    class Stuck(Disk):
        def perform(self, name, call, *args, **kwargs):
            return 0 if name == "write" else super().perform(name, call, *args, **kwargs)

    disk = Stuck()
    fd = disk.open("a", os.O_CREAT | os.O_WRONLY, at=at)
    disk.write(fd, b"")
    assert disk.write_once(fd, b"") == 0
    with pytest.raises(OSError, match="No space"):
        disk.write(fd, b"x")
    disk.close(fd)


def test_a_broken_disk_is_told_from_a_full_one() -> None:
    class Failing(Disk):
        number = errno.EIO

        def perform(self, name, call, *args, **kwargs):
            raise OSError(self.number, os.strerror(self.number))

    disk = Failing()
    with pytest.raises(SyncError):
        disk.fsync(0)
    disk.number = errno.ENOSPC
    with pytest.raises(OSError) as caught:
        disk.fdatasync(0)
    assert not isinstance(caught.value, SyncError)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "remount"),
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "close programs"),
        (errno.EACCES, "write permission"),
        (errno.EPERM, "lsattr"),
        (errno.EFBIG, "ulimit -f"),
        (errno.EIO, "doctor"),
        (errno.EBADF, "Check the disk"),
    ],
)
def test_every_refusal_says_what_to_do(number: int, advice: str) -> None:
    error = refusal("a.md", OSError(number, os.strerror(number)))
    assert advice in str(error)
    assert str(error).startswith("a.md: ")
    assert error.exit_code == 34


def test_a_folder_made_twice_is_made_once(at: int, folder: Path) -> None:
    for _ in range(2):
        Disk().mkdir("a", at)
    assert (folder / "a").is_dir()


def test_a_file_that_cannot_be_removed_is_left(folder: Path, at: int) -> None:
    tree = Tree(folder, Disk())
    tree.discard(Place(at, "none"))
    assert tree.strays() == []
    tree.close()
    tree.close()


def test_other_refusals_of_an_open_are_told(folder: Path, at: int) -> None:
    class Closed(Disk):
        def open(self, name, flags, *, at=None, mode=0o600):
            raise OSError(errno.EMFILE, "Too many open files")

    tree = Tree(folder, Disk())
    (folder / "a").write_bytes(ONE)
    (folder / "dir").mkdir()
    with pytest.raises(UnsafePathError):
        tree.open_file(Place(at, "dir"), os.O_RDWR, "dir")
    with pytest.raises(UnsafePathError):
        tree.open_file(Place(at, "dir"), os.O_RDONLY, "dir")
    tree.disk = Closed()
    with pytest.raises(OSError, match="Too many"):
        tree.open_file(Place(at, "a"), os.O_RDONLY, "a")
    tree.disk = Disk()
    tree.close()


def test_folders_are_made_once_and_kept(tmp_path: Path) -> None:
    root = tmp_path / "深/memory"
    lay(root, ("short-term", "semantic"))
    (root / "semantic/a.md").write_text("a", encoding="utf-8")
    lay(root, ("short-term", "semantic"))
    assert sorted(path.name for path in root.iterdir()) == ["semantic", "short-term"]
    assert (root / "semantic/a.md").is_file()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "semantic").write_text("mine", encoding="utf-8")
    with pytest.raises(DiskError, match="semantic"):
        lay(tmp_path, ("semantic",))


@pytest.mark.parametrize(
    ("changed", "known"),
    [
        (NOW - 60_000_000, True),
        (NOW - 40_000_000, False),
        (NOW + 1, False),
        (1_771_999_999_000_000_000, False),
        (1_771_999_990_000_000_000, True),
    ],
    ids=["old", "fresh", "future", "coarse clock", "coarse and old"],
)
def test_a_file_changed_a_moment_ago_is_not_known(changed: int, known: bool) -> None:
    look = (1, changed, 7)
    assert settled_stat(look, NOW) == (look if known else UNKNOWN)


def test_a_file_written_anew_with_its_size_and_time_looks_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    before, was = state_of(tmp_path, "a.md"), path.stat()
    assert before == signature(was)
    while path.stat().st_ctime_ns == was.st_ctime_ns:  # The clock of the disk has ticks.
        time.sleep(0.001)
        path.write_bytes(b"two")
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert path.stat().st_mtime_ns == was.st_mtime_ns
    assert state_of(tmp_path, "a.md") != before
    assert state_of(tmp_path, "none.md") is None


def test_a_walk_goes_below_but_not_behind_links_nor_into_what_is_hidden(tmp_path: Path) -> None:
    for path in ("a/b/one.md", ".hidden/two.md", "a/.three.md", "a/four.txt", "five.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "link.md").symlink_to(tmp_path / "five.md")
    (tmp_path / "out").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe.md")
    asked: list[str] = []

    def wanted(path: str) -> bool:
        asked.append(path)
        return path.endswith(".md")

    found = {path: listed for path, listed in walk(str(tmp_path), "", wanted)}
    assert found.keys() == {"", "a/", "a/b/"}
    assert found["a/b/"].files == {"a/b/one.md": state_of(tmp_path, "a/b/one.md")}
    assert (found["a/"].files, found["a/"].folders) == ({}, ["a/b/"])
    assert sorted(asked) == ["a/b/one.md", "a/four.txt", "five.md"]
    assert [path for path, _ in walk(str(tmp_path), "none/", wanted)] == []


def test_a_file_that_goes_meanwhile_is_left_out(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.md").write_bytes(b"")

    def wanted(path: str) -> bool:
        if path != "0.md":
            (tmp_path / path).unlink()
        return True

    listed = list_folder(str(tmp_path), "", wanted)
    assert listed is not None
    assert list(listed.files) == ["0.md"]


def test_the_time_of_a_folder_is_relied_on_once_it_is_old(tmp_path: Path) -> None:
    listed = list_folder(str(tmp_path), "", lambda path: True)
    assert listed is not None
    assert listed.at == 0
    old = time.time_ns() - 10_000_000_000
    os.utime(tmp_path, ns=(old, old))
    listed = list_folder(str(tmp_path), "", lambda path: True)
    assert listed is not None
    assert listed.at == old
