"""Every guard of the store is taken away in turn; a check must notice that it is gone."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.domain.job import Create, Update, digest
from kimi_memory.errors import ChangedOnDiskError, KimiMemoryError, StoreError, UnsafePathError
from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.store.files import locks, paths
from kimi_memory.store.files import tree as trees
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store
from kimi_memory.store.wal import commit_files, journal, records
from kimi_memory.store.wal import transaction as txns
from tests.faults.acts import ACTS, BEFORE, KEY, LINE, ME, NEW, OLD, files, leftovers, prepare
from tests.faults.disks import EndingDisk, FailingDisk, Gone, MeddlingDisk
from tests.faults.test_power import _Filming, film
from tests.faults.test_races import exact

Patch = pytest.MonkeyPatch
Check = Callable[[Path], None]
HUMAN = "人写的".encode()


def power(name: str, kind: type[_Filming] = _Filming) -> Check:
    def check(root: Path) -> None:
        film(root / "m", root / "films", name, kind)

    return check


class _NoFileSync(_Filming):
    def fsync(self, fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            super().fsync(fd)


class _NoDataSync(_Filming):
    def fdatasync(self, fd: int) -> None:
        return


class _NoFolderSync(_Filming):
    def fsync(self, fd: int) -> None:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            super().fsync(fd)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("create", _NoFileSync),
        ("update", _NoFileSync),
        ("many", _NoFileSync),
        ("append", _NoDataSync),
        ("create", _NoFolderSync),
        ("update", _NoFolderSync),
        ("begin", _NoFolderSync),
        ("purge", _NoFolderSync),
    ],
)
def test_a_missing_sync_loses_writes(name: str, kind: type[_Filming], swift: Path) -> None:
    with pytest.raises((AssertionError, KimiMemoryError, OSError, ValueError)):
        power(name, kind)(swift)


def race_create(root: Path) -> None:
    root, disk = _meddled(root)
    with Store.open(root, key=KEY, disk=disk) as store:
        disk.before("rename", 1, lambda: (root / "x.md").write_bytes(HUMAN))
        disk.before("noreplace", 1, lambda: (root / "x.md").write_bytes(HUMAN))
        store.apply([Create("x.md", NEW)], ME)
        assert HUMAN in files(store).values()


def race_update(root: Path) -> None:
    root, disk = _meddled(root)

    def save() -> None:
        (root / "new").write_bytes(HUMAN)
        (root / "new").replace(root / "semantic/a.md")

    with Store.open(root, key=KEY, disk=disk) as store:
        for name, n in (("exchange", 1), ("rename", 2)):
            disk.before(name, n, save)
        store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)
        store.drop_undo(0, 0)
        assert HUMAN in files(store).values()


def race_place(root: Path) -> None:
    root, disk = _meddled(root)
    page = root / "semantic/a.md"
    with Store.open(root, key=KEY, disk=disk) as store:
        disk.before("exchange", 1, lambda: page.write_bytes(HUMAN))
        store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)
        assert page.read_bytes() == HUMAN


def stale_update(root: Path) -> None:
    prepare(root / "m")
    with Store.open(root / "m", key=KEY) as store, pytest.raises(ChangedOnDiskError):
        store.apply([Update("semantic/a.md", digest(HUMAN), NEW)], ME)


def late_editor(root: Path) -> None:
    prepare(root / "m")
    with Store.open(root / "m", key=KEY) as store:
        with (root / "m/semantic/a.md").open("ab") as editor:
            store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)
            editor.write(HUMAN)
        store.drop_undo(0, 0)
        assert OLD + HUMAN in files(store).values()


def torn_tail(root: Path) -> None:
    prepare(root / "m")
    with (root / "m/short-term/s.jsonl").open("ab") as file:
        file.write(LINE[:9])
    with Store.open(root / "m", key=KEY) as store:
        store.append("short-term/s.jsonl", [LINE], ME)
        assert files(store)["short-term/s.jsonl"] == LINE + LINE


def counting(root: Path) -> None:
    for turn in range(24):  # Without locks most runs lose a count, not every one.
        exact(root / f"m{turn}", 6, 12)


def second_name(root: Path) -> None:
    prepare(root / "m")
    with Store.open(root / "m", key=KEY) as store:
        store.append("short-term/s.jsonl", [LINE], ME)
        (root / "copy.jsonl").hardlink_to(root / "m/short-term/s.jsonl")
        store.append("short-term/s.jsonl", [LINE], ME)
    assert (root / "copy.jsonl").read_bytes() == LINE + LINE


def outside(root: Path) -> None:
    prepare(root / "m")
    (root / "out").mkdir()
    (root / "out/x.md").write_bytes(b"secret")
    (root / "m/link").symlink_to(root / "out")
    with Store.open(root / "m", key=KEY) as store, pytest.raises(UnsafePathError):
        store.read("link/x.md")


def odd_name(root: Path) -> None:
    prepare(root / "m")
    with Store.open(root / "m", key=KEY) as store, pytest.raises(UnsafePathError):
        store.read("semantic/-rf")


def forged(root: Path) -> None:
    lines, path = _lines(root)
    path.write_bytes(b"".join([*lines[:-1], seal({**unseal(lines[-1]), "actor": "you"})]))
    with Store.open(root / "m", key=KEY) as store:
        assert store.journal.verify() != []


def missing(root: Path) -> None:
    lines, path = _lines(root)
    path.write_bytes(b"".join([*lines[:1], *lines[2:]]))
    with Store.open(root / "m", key=KEY) as store:
        assert store.journal.verify() != []


def mixed(root: Path) -> None:
    act, after = ACTS["many"]
    prepare(root / "count")
    disk = FailingDisk()
    with Store.open(root / "count", key=KEY, disk=disk) as store:
        begun = disk.count
        act(store)
    for at in range(begun + 1, disk.count + 1, 3):
        folder = root / str(at)
        prepare(folder)
        ending = EndingDisk(at)
        with Store.open(folder, key=KEY, disk=ending) as store, contextlib.suppress(Gone):
            act(store)
        with Store.open(folder, key=KEY) as store:
            store.clear_read_only()
            assert files(store) in (BEFORE, after)
            assert leftovers(folder) == []


def lock_order(root: Path) -> None:
    prepare(root / "m")
    with (
        Store.open(root / "m", key=KEY) as store,
        store.lock("journal"),
        pytest.raises(StoreError),
        store.lock("store"),
    ):
        pass


def vanished_lock(root: Path) -> None:
    class Sly(Disk):
        done = False

        def stat(self, name: str, at: int) -> os.stat_result:
            if name.endswith("job.lock") and not self.done:
                self.done = True
                os.unlink(name, dir_fd=at)
                os.close(os.open(name, os.O_CREAT | os.O_RDWR, dir_fd=at))
            return super().stat(name, at)

    prepare(root / "m")
    with (
        Store.open(root / "m", key=KEY, disk=Sly()) as store,
        store.lock("job"),
        Store.open(root / "m", key=KEY) as other,
        pytest.raises(StoreError),
        other.lock("job", timeout_seconds=0.01),
    ):
        pass


def twin_names(root: Path) -> None:
    prepare(root / "m")
    with Store.open(root / "m", key=KEY) as store, pytest.raises(UnsafePathError):
        store.apply([Create("semantic/A.md", NEW)], ME)


def replayed(root: Path) -> None:
    """A journaled transaction that could not be cleared away must not be placed again."""
    root, disk = _meddled(root)
    with Store.open(root, key=KEY, disk=disk) as store:
        kept = root.parent / "kept"
        disk.before("noreplace", 1, lambda: shutil.copytree(root / ".kimi/txn", kept))
        ACTS["many"][0](store)
        (folder,) = (p for p in kept.iterdir() if p.name.endswith(".commit"))
        store.apply([Update("semantic/a.md", digest(NEW), OLD)], ME)
        shutil.copytree(folder, root / ".kimi/txn" / folder.name)
        store.clear_read_only()
        assert files(store)["semantic/a.md"] == OLD


def _meddled(root: Path) -> tuple[Path, MeddlingDisk]:
    prepare(root / "m")
    return root / "m", MeddlingDisk()


def _lines(root: Path) -> tuple[list[bytes], Path]:
    prepare(root / "m")
    (path,) = (root / "m/.kimi/journal").iterdir()
    return path.read_bytes().splitlines(keepends=True), path


def _walk_and_follow(root: int, parts: list[str]) -> int:
    return os.open("/".join(parts) or ".", os.O_RDONLY, dir_fd=root)


def _swap_once(self, slot, place, put, expect):
    self._disk.exchange(slot.name, slot.folder, place.name, place.folder)
    return put, expect


def _place_at_once(self, intent):
    outcome = commit_files.Outcome()
    for step in intent.steps:
        outcome = self._run_one(txns.Intent(intent.id, (step,), intent.actor))
    return outcome


def _no_flock(self, name, call, *args, **kwargs):
    return None if name == "flock" else call(*args, **kwargs)


MUTANTS: dict[str, tuple[Check, object, str, object]] = {
    "no O_EXCL": (race_create, Disk, "rename_noreplace", Disk.rename),
    "no exchange": (race_update, Disk, "exchange", Disk.rename),
    "no exchange verify": (race_place, commit_files.Placer, "_swap_until_expected", _swap_once),
    "no CAS check": (stale_update, commit_files, "_expect_content", lambda *_: 0o600),
    "no undo re-hash": (
        late_editor,
        commit_files.Keeper,
        "_drop_preimage",
        lambda self, place: self._tree.disk.unlink(place.name, place.folder) or [],
    ),
    "no torn-tail cut": (torn_tail, records, "is_torn", lambda *_: False),
    "no lock": (counting, Disk, "perform", _no_flock),
    "no nlink check": (
        second_name,
        trees.Tree,
        "open_file",
        lambda self, place, flags, _: self.disk.open(place.name, flags, at=place.folder),
    ),
    "no beneath": (
        outside,
        paths,
        "_open_beneath",
        lambda root, _, parts: _walk_and_follow(root, parts),
    ),
    "no path check": (odd_name, trees, "check", lambda path: tuple(path.split("/"))),
    "no MAC check": (forged, journal.Journal, "is_ours", lambda *_: True),
    "no chain check": (missing, journal, "misfits", lambda *_: []),
    "no commit point": (mixed, txns.Transactions, "run", _place_at_once),
    "no recovery": (mixed, txns.Recovery, "run", lambda _: []),
    "no replay guard": (replayed, journal.Journal, "paths_of", lambda *_: set()),
    "no lock order": (lock_order, locks.Locks, "_in_order", lambda *_: None),
    "no lock identity": (vanished_lock, locks, "same", lambda *_: True),
    "no twin check": (twin_names, trees.Tree, "refuse_twin", lambda *_: None),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_guard_taken_away_is_noticed(name: str, swift: Path, monkeypatch: Patch) -> None:
    check, where, what, instead = MUTANTS[name]
    (swift / "whole").mkdir()
    check(swift / "whole")
    monkeypatch.setattr(where, what, instead)
    if where is paths:
        monkeypatch.setattr(trees, "open_folder", _walk_and_follow)
    (swift / "mutant").mkdir()
    with pytest.raises(
        (AssertionError, pytest.fail.Exception, KimiMemoryError, OSError, ValueError)
    ):
        check(swift / "mutant")
