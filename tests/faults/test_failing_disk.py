"""Every system call of a write fails once, in every way: nothing is lost, nothing is half."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kimi_memory.domain.job import Create
from kimi_memory.errors import DiskError, KimiMemoryError, ReadOnlyError
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store
from tests.faults.acts import (
    ACTS,
    BEFORE,
    KEY,
    LINE,
    ME,
    NEW,
    OLD,
    Act,
    Files,
    files,
    leftovers,
    prepare,
)
from tests.faults.disks import SHORT, FailingDisk

ERRNOS = [errno.EIO, errno.ENOSPC, errno.EINTR, errno.EMFILE, errno.EROFS, SHORT]


def _calls(root: Path, act: Act) -> tuple[int, int]:
    prepare(root)
    disk = FailingDisk()
    with Store.open(root, key=KEY, disk=disk) as store:
        begun = disk.count
        act(store)
        return begun, disk.count


@pytest.mark.parametrize("name", ACTS)
def test_a_failing_call_leaves_old_or_new(name: str, swift: Path) -> None:
    act, after = ACTS[name]
    begun, ended = _calls(swift / "count", act)
    for at in range(begun + 1, ended + 1):
        _fail(swift / str(at), act, after, FailingDisk(at, ERRNOS[at % len(ERRNOS)]))


@pytest.mark.parametrize("name", ["update", "delete", "move"])
def test_every_call_may_meet_a_broken_disk(name: str, swift: Path) -> None:
    """Whichever call comes where: the test above gives each but one of the errors."""
    act, after = ACTS[name]
    begun, ended = _calls(swift / "count", act)
    for at in range(begun + 1, ended + 1):
        _fail(swift / str(at), act, after, FailingDisk(at, errno.EIO))


@pytest.mark.faults
@pytest.mark.parametrize("number", ERRNOS, ids=lambda n: errno.errorcode.get(n, "short"))
@pytest.mark.parametrize("name", ACTS)
def test_every_call_fails_in_every_way(name: str, number: int, swift: Path) -> None:
    act, after = ACTS[name]
    begun, ended = _calls(swift / "count", act)
    for at in range(begun + 1, ended + 1):
        _fail(swift / str(at), act, after, FailingDisk(at, number))


def _fail(root: Path, act: Act, after: Files, disk: FailingDisk) -> None:
    prepare(root)
    where = (disk.at, disk.number)
    with Store.open(root, key=KEY, disk=disk) as store:
        acked = _try(store, act)
        if not acked and not store.read_only:
            assert files(store) == BEFORE, (where, disk.failed)
    with Store.open(root, key=KEY) as store:
        store.clear_read_only()
        found = files(store)
        assert found == after if acked else found in (BEFORE, after), (where, disk.failed)
        assert leftovers(root) == [], (where, disk.failed)
        assert store.journal.verify() == []
        store.apply([Create("next.md", NEW)], ME)


def _try(store: Store, act: Act) -> bool:
    try:
        act(store)
    except DiskError as error:
        assert "Nothing was changed" in str(error)
        return False
    return True


def test_a_failed_sync_stops_the_store_until_it_is_checked(swift: Path) -> None:
    class Broken(Disk):
        def fdatasync(self, fd: int) -> None:
            self._sync_file("fdatasync", _eio, fd)

    def _eio(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    root = swift / "m"
    prepare(root)
    with Store.open(root, key=KEY, disk=Broken()) as store:
        with pytest.raises(DiskError, match="doctor"):
            ACTS["append"][0](store)
        with pytest.raises(ReadOnlyError):
            ACTS["append"][0](store)
    with Store.open(root, key=KEY) as store:
        with pytest.raises(ReadOnlyError, match="the disk failed to store"):
            ACTS["append"][0](store)
        store.clear_read_only()
        assert store.read("short-term/s.jsonl") == LINE
        ACTS["append"][0](store)


def test_a_failed_sync_after_a_swap_stops_the_store_with_a_whole_file(swift: Path) -> None:
    class Broken(Disk):
        swapped = False

        def exchange(self, old: str, old_at: int, new: str, new_at: int) -> None:
            super().exchange(old, old_at, new, new_at)
            self.swapped = True

        def fsync(self, fd: int) -> None:
            self._sync_file("fsync", _eio if self.swapped else os.fsync, fd)

    def _eio(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    root = swift / "m"
    prepare(root)
    with Store.open(root, key=KEY, disk=Broken()) as store:
        with pytest.raises(DiskError):
            ACTS["update"][0](store)
        assert store.read_only
    with Store.open(root, key=KEY) as store:
        assert store.read("semantic/a.md") in {OLD, NEW}


def test_a_disk_that_stays_full_keeps_the_old_bytes(swift: Path) -> None:
    for name, (act, _) in ACTS.items():
        begun, ended = _calls(swift / f"count-{name}", act)
        for at in range(begun + 1, ended + 1, 3):
            root = swift / f"{name}-{at}"
            prepare(root)
            disk = _FullDisk(at)
            with Store.open(root, key=KEY, disk=disk) as store:
                try:
                    act(store)
                except KimiMemoryError:
                    assert files(store) == BEFORE, (name, at)


class _FullDisk(FailingDisk):
    """From call `at` on, nothing that needs space succeeds."""

    def perform(self, name, call, *args, **kwargs):
        self.count += 1
        if self.count >= self.at and name in {"write", "mkdir"}:
            raise OSError(errno.ENOSPC, "No space left on device")
        return call(*args, **kwargs)
