"""The store's surface: read, apply, append, view."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.job import (
    Actor,
    Append,
    Create,
    Delete,
    Effect,
    Move,
    Update,
    digest,
)
from kimi_memory.errors import (
    ChangedOnDiskError,
    DiskError,
    LockTimeoutError,
    NotFoundError,
    ReadOnlyError,
    StoreError,
    UnsafePathError,
)
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store

KEY = b"a key of this machine"
ONE = "第一版\n".encode()
TWO = b"second\n"
LINE = seal({"n": 1, "text": "你好"})
LINE2 = seal({"n": 2, "text": "hello"})


def test_a_new_file_is_read_back(store: Store, folder: Path, actor: Actor) -> None:
    receipt = store.apply([Create("semantic/部署.md", ONE)], actor)
    assert receipt.effects == (Effect("semantic/部署.md", "", digest(ONE)),)
    assert receipt.kept == ()
    assert store.read("semantic/部署.md") == ONE
    assert store.size("semantic/部署.md") == len(ONE)
    assert store.exists("semantic/部署.md")
    assert store.files() == ["semantic/部署.md"]
    assert stat.S_IMODE((folder / "semantic/部署.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "semantic").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / ".kimi").stat().st_mode) == 0o700
    assert (folder / ".kimi/.gitignore").read_bytes() == b"*\n"


def test_a_wide_umask_changes_nothing(store: Store, folder: Path, actor: Actor) -> None:
    old = os.umask(0)
    try:
        store.apply([Create("a/b.md", ONE)], actor)
        store.append("a/s.jsonl", [LINE], actor)
    finally:
        os.umask(old)
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_an_update_keeps_the_mode(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", ONE)], actor)
    (folder / "a.md").chmod(0o644)
    receipt = store.apply([Update("a.md", digest(ONE), TWO)], actor)
    assert receipt.effects == (Effect("a.md", digest(ONE), digest(TWO)),)
    assert store.read("a.md") == TWO
    assert stat.S_IMODE((folder / "a.md").stat().st_mode) == 0o644


def test_one_set_names_a_path_once(store: Store, actor: Actor) -> None:
    with pytest.raises(StoreError, match="names it twice"):
        store.apply([Create("a.md", ONE), Append("a.md", (LINE,))], actor)
    with pytest.raises(StoreError, match="names it twice"):
        store.apply([Create("a.md", ONE), Move("b.md", "a.md", "")], actor)


def test_names_that_differ_in_case_are_refused(store: Store, actor: Actor) -> None:
    store.apply([Create("Notes/Straße.md", ONE)], actor)
    for path in ("Notes/STRASSE.md", "notes/x.md", "NOTES/straße.md"):
        with pytest.raises(UnsafePathError, match="only in case"):
            store.apply([Create(path, ONE)], actor)
        with pytest.raises(UnsafePathError, match="only in case"):
            store.append(path.replace(".md", ".md"), [LINE], actor)
    assert store.files() == ["Notes/Straße.md"]


def test_new_names_of_one_set_that_differ_in_case_are_refused(store: Store, actor: Actor) -> None:
    store.apply([Create("notes/a.md", ONE)], actor)
    with pytest.raises(UnsafePathError, match="only in case"):
        store.apply([Create("notes/Oslo.md", ONE), Create("notes/oslo.md", TWO)], actor)
    assert store.files() == ["notes/a.md"]


def test_a_folder_is_listed_as_often_for_many_new_files_as_for_two(
    store: Store, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[int] = []
    names = Disk.names
    monkeypatch.setattr(Disk, "names", lambda *given: listed.append(given[1]) or names(*given))

    def write(first: int, last: int) -> int:
        listed.clear()
        store.apply([Create(f"notes/{n}.md", ONE) for n in range(first, last)], actor)
        return len(listed)

    write(0, 1)
    assert write(1, 3) == write(3, 40)


def test_links_and_odd_files_are_not_opened(
    store: Store, folder: Path, tmp_path: Path, actor: Actor
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(ONE)
    (folder / "link.md").symlink_to(outside)
    (folder / "out").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    (folder / "dir.md").mkdir()
    for path in ("link.md", "out/outside.md", "pipe.md", "dir.md"):
        with pytest.raises(UnsafePathError):
            store.read(path)
        assert not store.exists(path)
        with pytest.raises(UnsafePathError):
            store.append(path, [LINE], actor)
        with pytest.raises((UnsafePathError, ChangedOnDiskError)):
            store.apply([Update(path, digest(ONE), TWO)], actor)
    assert outside.read_bytes() == ONE
    assert store.files() == []
    assert store.strays() == ["link.md", "out", "pipe.md"]


def test_files_with_strange_names_are_strays(store: Store, folder: Path) -> None:
    for name in ("a:b.md", "-x.md", "fine.md"):
        (folder / name).write_bytes(b"")
    assert store.files() == ["fine.md"]
    assert store.strays() == ["-x.md", "a:b.md"]


def test_what_is_not_there_is_not_found(store: Store) -> None:
    for path in ("none.md", "none/x.md"):
        with pytest.raises(NotFoundError):
            store.read(path)
        assert not store.exists(path)
        assert store.size(path) == 0
    assert store.files("none") == []


def test_truth_leaves_out_what_passes(store: Store, folder: Path, actor: Actor) -> None:
    for path in (".obsidian/x.json", ".git/HEAD", "a/.hidden/x.md", "a/x.md~", "4913", "a/y.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"")
    store.view("short-term/session_1.json", b"{}")
    assert store.files() == ["a/y.md"]
    assert store.files("a") == store.files("a/") == ["a/y.md"]
    for path in ("a/x.md~", "short-term/session_1.json"):
        with pytest.raises(StoreError, match="only truth"):
            store.apply([Create(path, b"")], actor)


def test_a_session_that_is_archived_while_a_store_opens_is_no_error(
    store: Store, folder: Path, actor: Actor
) -> None:
    class Busy(Disk):
        def names(self, at: int) -> list[str]:
            found = super().names(at)
            if "s.jsonl" in found:
                os.unlink("s.jsonl", dir_fd=at)
            return found

    store.append("short-term/s.jsonl", [LINE], actor)
    with Store.open(folder, key=KEY, disk=Busy()) as second:
        assert not second.read_only
        assert second.files("short-term") == []


def test_views_come_and_go(store: Store, folder: Path) -> None:
    for content in (b"{}", b'{"a":1}'):
        store.view("short-term/session_1.json", content)
        assert store.read("short-term/session_1.json") == content
    store.view(".kimi/cache/x.json", b"x")
    assert store.read(".kimi/cache/x.json") == b"x"
    assert list((folder / ".kimi/tmp").iterdir()) == []
    store.unview("short-term/session_1.json")
    store.unview("short-term/session_1.json")
    assert not store.exists("short-term/session_1.json")
    for act in (lambda: store.view("a.md", b""), lambda: store.unview("a.md")):
        with pytest.raises(StoreError, match="holds truth"):
            act()


def test_private_paths_are_checked_too(store: Store) -> None:
    for path in (".kimi/../x", ".kimi/.x", ".kimi/"):
        with pytest.raises(UnsafePathError):
            store.read(path)


def test_threads_share_a_store(store: Store, actor: Actor) -> None:
    def work(who: int) -> None:
        for n in range(20):
            store.append("short-term/s.jsonl", [seal({"who": who, "n": n})], actor)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read("short-term/s.jsonl").count(b"\n") == 80
    assert store.journal.verify() == []


def test_named_locks_exclude(store: Store, folder: Path) -> None:
    with Store.open(folder, key=KEY) as other, store.lock("job"):
        met = []

        def work() -> None:
            try:
                with other.lock("job", timeout_seconds=0.01):
                    pass
            except LockTimeoutError as error:
                met.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert len(met) == 1
        with other.lock("git", shared=True):
            pass


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="No such file"):
        Store.open(tmp_path / "none", key=KEY)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DiskError):
        Store.open(tmp_path / "file", key=KEY)


def test_private_folders_may_vanish(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", ONE)], actor)
    shutil.rmtree(folder / ".kimi")
    store.apply([Update("a.md", digest(ONE), TWO), Create("b.md", ONE)], actor)
    shutil.rmtree(folder / ".kimi")
    store.append("short-term/s.jsonl", [LINE], actor)
    shutil.rmtree(folder / ".kimi")
    assert store.drop_undo() == ()
    store.view("short-term/s.json", b"")
    assert store.files() == ["a.md", "b.md", "short-term/s.jsonl"]


class _ReadOnlyDisk(Disk):
    def perform(self, name, call, *args, **kwargs):
        writing = name == "open" and args and isinstance(args[-1], int) and args[1] & os.O_CREAT
        if writing or name in {"mkdir", "write"}:
            raise OSError(30, "Read-only file system")
        return super().perform(name, call, *args, **kwargs)


def test_a_read_only_disk_is_read(folder: Path, actor: Actor) -> None:
    with Store.open(folder, key=KEY) as store:
        store.apply([Create("a.md", ONE)], actor)
    with Store.open(folder, key=KEY, disk=_ReadOnlyDisk()) as store:
        assert store.read("a.md") == ONE
        assert "Read-only" in store.read_only
        for act in (
            lambda: store.apply([Create("b.md", ONE)], actor),
            lambda: store.append("s.jsonl", [LINE], actor),
            lambda: store.view("short-term/s.json", b""),
            lambda: store.holding("s.jsonl"),
            store.reconcile,
            store.drop_undo,
        ):
            with pytest.raises(ReadOnlyError, match="Read-only"):
                act()
        with pytest.raises(DiskError, match="Read-only"), store.lock("job"):
            pass


def test_the_clock_is_aware() -> None:
    assert utcnow().tzinfo is not None
    assert abs((utcnow() - datetime.now(UTC)).total_seconds()) < 5


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=20)), max_size=12))
def test_the_store_is_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[str, bytes]]
) -> None:
    model: dict[str, bytes] = {}
    me = Actor("cli")
    with Store.open(tmp_path_factory.mktemp("m"), key=KEY) as store:
        for name, content in writes:
            path = f"{name}/{name}.md"
            if path not in model:
                store.apply([Create(path, content)], me)
            elif content:
                store.apply([Update(path, digest(model[path]), content)], me)
            else:
                store.apply([Delete(path, digest(model.pop(path)))], me)
                continue
            model[path] = content
        assert {path: store.read(path) for path in store.files()} == model
        known = {path: mark for path, mark in store.journal.known().items() if mark}
        assert known == {path: digest(content) for path, content in model.items()}
        assert store.reconcile() == []


def test_a_backup_of_hard_links_keeps_its_bytes(
    store: Store, folder: Path, tmp_path: Path, actor: Actor
) -> None:
    """As ``cp -al`` makes it, while the store is open: every file has two names then."""
    store.append("short-term/s.jsonl", [LINE], actor)
    store.apply([Create("semantic/a.md", b"old\n")], actor)
    backup = tmp_path / "backup"
    shutil.copytree(folder, backup, copy_function=os.link)
    before = {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()}
    # A lock says who had it last, and both names of it are one lock.
    before = {path: content for path, content in before.items() if path.parent.name != "locks"}
    store.append("short-term/s.jsonl", [LINE2], actor)
    store.apply([Update("semantic/a.md", digest(b"old\n"), b"new\n")], actor)
    assert store.read("short-term/s.jsonl") == LINE + LINE2
    assert {path: path.read_bytes() for path in before} == before
    assert not store.journal.verify()
    with Store.open(backup, key=KEY) as other:
        other.append("short-term/s.jsonl", [LINE2], actor)
        assert other.read("semantic/a.md") == b"old\n"
        assert not other.journal.verify()
    assert store.read("short-term/s.jsonl") == LINE + LINE2
