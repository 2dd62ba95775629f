"""Somebody saves, deletes or renames a file in the very moment we write it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor, Append, Create, Delete, Move, Update, digest
from kimi_memory.errors import DiskError
from kimi_memory.store.store import Store
from tests.faults.disks import MeddlingDisk

OLD, NEW = "旧\n".encode(), "新\n".encode()
MINE, MINE2 = "人写的\n".encode(), b"a person wrote again\n"


@pytest.fixture
def disk() -> MeddlingDisk:
    return MeddlingDisk()


@pytest.fixture
def store(folder: Path, disk: MeddlingDisk, actor: Actor) -> Iterator[Store]:
    with Store.open(folder, key=b"k", disk=disk) as opened:
        opened.apply([Create("semantic/页.md", OLD), Create("b.md", OLD)], actor)
        yield opened


@pytest.fixture
def page(folder: Path) -> Path:
    return folder / "semantic/页.md"


def _save(path: Path, content: bytes) -> None:
    passing = path.with_name(".passing")
    passing.write_bytes(content)
    passing.replace(path)


def test_a_file_made_meanwhile_stays(
    store: Store, folder: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    disk.before("noreplace", 1, lambda: (folder / "新.md").write_bytes(MINE))
    receipt = store.apply([Create("新.md", NEW)], actor)
    assert store.read("新.md") == MINE
    assert [store.read(path) for path in receipt.kept] == [NEW]
    assert receipt.effects[0].path == receipt.kept[0]
    assert receipt.kept[0].startswith("conflicts/新.")


@pytest.mark.parametrize("way", ["in place", "rename"])
def test_a_save_meanwhile_wins_its_place(
    way: str, store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    save = Path.write_bytes if way == "in place" else _save
    disk.before("exchange", 1, lambda: save(page, MINE))
    receipt = store.apply([Update("semantic/页.md", digest(OLD), NEW)], actor)
    assert page.read_bytes() == MINE
    assert [store.read(path) for path in receipt.kept] == [NEW]
    record = list(store.journal.records())[-1]
    assert (record["op"], record["of"]) == ("conflict", "semantic/页.md")
    assert [e.path for e in store.reconcile()] == ["semantic/页.md"]


def test_two_saves_meanwhile_keep_everything(
    store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    disk.before("exchange", 1, lambda: _save(page, MINE))
    disk.before("exchange", 2, lambda: _save(page, MINE2))
    receipt = store.apply([Update("semantic/页.md", digest(OLD), NEW)], actor)
    assert page.read_bytes() == MINE2
    assert sorted(store.read(path) for path in receipt.kept) == sorted([MINE, NEW])


def test_a_file_saved_without_end_is_left(
    store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    for n in range(1, 20):
        disk.before("exchange", n, lambda n=n: _save(page, b"%d" % n))
    receipt = store.apply([Update("semantic/页.md", digest(OLD), NEW)], actor)
    assert sorted(map(store.read, receipt.kept))[-1] == NEW
    assert {page.read_bytes(), *map(store.read, receipt.kept)} >= {b"16", b"15", NEW}


def test_a_file_deleted_meanwhile_stays_deleted(
    store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    disk.before("exchange", 1, page.unlink)
    receipt = store.apply([Update("semantic/页.md", digest(OLD), NEW)], actor)
    assert not page.exists()
    assert [store.read(path) for path in receipt.kept] == [NEW]


def test_a_link_put_meanwhile_stays_a_link(
    store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    def link() -> None:
        page.unlink()
        page.symlink_to("/etc/hostname")

    disk.before("exchange", 1, link)
    receipt = store.apply([Update("semantic/页.md", digest(OLD), NEW)], actor)
    assert page.is_symlink()
    assert [store.read(path) for path in receipt.kept] == [NEW]


def test_a_move_onto_something_new_does_not_happen(
    store: Store, folder: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    disk.before("noreplace", 1, lambda: (folder / "c.md").write_bytes(MINE))
    receipt = store.apply([Move("b.md", "c.md", digest(OLD))], actor)
    assert receipt.effects == ()
    assert (store.read("b.md"), store.read("c.md")) == (OLD, MINE)
    (folder / "c.md").unlink()
    disk.before("noreplace", 1, (folder / "b.md").unlink)
    assert store.apply([Move("b.md", "c.md", digest(OLD))], actor).effects == ()
    assert store.files() == ["semantic/页.md"]


def test_a_deletion_meets_an_edit(
    store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    disk.before("noreplace", 1, lambda: _save(page, MINE))
    receipt = store.apply([Delete("semantic/页.md", digest(OLD))], actor)
    assert receipt.effects == ()
    assert page.read_bytes() == MINE
    disk.before("noreplace", 1, lambda: _save(page, MINE2))
    disk.before("noreplace", 2, lambda: _save(page, OLD))
    receipt = store.apply([Delete("semantic/页.md", digest(MINE))], actor)
    assert page.read_bytes() == OLD
    assert [store.read(path) for path in receipt.kept] == [MINE2]


def test_a_deletion_of_what_is_gone_is_done(
    store: Store, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    disk.before("noreplace", 1, page.unlink)
    (effect,) = store.apply([Delete("semantic/页.md", digest(OLD))], actor).effects
    assert effect.after == ""
    assert not page.exists()


def test_a_stage_that_is_stolen_is_told(
    store: Store, folder: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    def steal() -> None:
        for path in (folder / ".kimi/tmp").iterdir():
            path.unlink()

    disk.before("noreplace", 1, steal)
    with pytest.raises(DiskError):
        store.apply([Create("x.md", NEW)], actor)
    disk.before("exchange", 2, lambda: None)
    disk.before("rename", 2, steal)
    with pytest.raises(DiskError):
        store.apply([Update("b.md", digest(OLD), NEW)], actor)


def _refuse() -> None:
    raise OSError(28, "No space left on device")


def test_what_was_placed_is_taken_back_unless_edited(
    store: Store, folder: Path, page: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    (folder / "log.md").write_bytes(OLD)
    changes = [
        Create("x.md", NEW),
        Update("b.md", digest(OLD), NEW),
        Append("log.md", (b"line\n",)),
        Update("semantic/页.md", digest(OLD), NEW),
    ]

    def edit() -> None:
        (folder / "x.md").write_bytes(MINE)
        (folder / "log.md").write_bytes(OLD + b"line\nmore\n")
        _save(page, MINE2)
        raise OSError(28, "No space left on device")

    def journal() -> None:
        disk.before("write", 1, edit)

    disk.before(
        "noreplace", 1, lambda: disk.before("fdatasync", 1, lambda: disk.before("list", 1, journal))
    )
    with pytest.raises(DiskError, match="Free some space"):
        store.apply(changes, actor)
    assert store.read("x.md") == MINE
    assert store.read("b.md") == OLD
    assert store.read("log.md") == OLD + b"line\nmore\n"
    assert page.read_bytes() == MINE2
    assert list((folder / ".kimi/txn").iterdir()) == []


def test_what_cannot_be_taken_back_is_finished_later(
    store: Store, folder: Path, disk: MeddlingDisk, actor: Actor
) -> None:
    changes = [Create("x.md", NEW), Move("b.md", "c.md", digest(OLD))]

    def journal() -> None:
        def fail() -> None:
            disk.before("noreplace", 1, _refuse)
            _refuse()

        disk.before("write", 1, fail)

    disk.before("noreplace", 2, lambda: disk.before("list", 1, journal))
    with pytest.raises(DiskError):
        store.apply(changes, actor)
    store.apply([Create("next.md", NEW)], actor)
    assert store.files() == ["c.md", "next.md", "semantic/页.md", "x.md"]
    assert store.journal.verify() == []
    assert store.reconcile() == []
