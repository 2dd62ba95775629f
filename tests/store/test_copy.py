"""The id of a copy: steady in its folder, another one in every other."""

from __future__ import annotations

import errno
import json
import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.job import Create
from kimi_memory.domain.operation_types import Commit
from kimi_memory.store.copy import (
    checkpoint,
    checkpoints_of,
    copy_id,
    copy_of,
    note_copy,
    other_copies,
)
from kimi_memory.store.files import locks
from kimi_memory.store.store import Store
from tests.store.conftest import KEY


def test_an_id_stays_with_its_folder(store, folder):
    own = copy_id(store)
    assert len(own) == 8
    assert own.isalnum()
    with Store.open(folder, key=KEY) as again:
        assert copy_id(again) == own


def test_a_folder_that_was_renamed_is_the_same_copy(store, folder, tmp_path):
    own = copy_id(store)
    folder.rename(tmp_path / "renamed")
    with Store.open(tmp_path / "renamed", key=KEY) as again:
        assert copy_id(again) == own


def test_a_folder_that_was_copied_is_another(store, folder, tmp_path):
    own = copy_id(store)
    shutil.copytree(folder, tmp_path / "copied")
    with Store.open(tmp_path / "copied", key=KEY) as other:
        assert copy_id(other) != own
    assert copy_id(store) == own


def test_on_another_machine_it_is_another(store, monkeypatch, tmp_path):
    own = copy_id(store)
    monkeypatch.setattr(locks, "Path", lambda path: tmp_path / "none")
    monkeypatch.setattr(locks.platform, "node", lambda: "another machine")
    assert copy_id(store) != own


@pytest.mark.parametrize("content", ["", "[]", "{", '{"copy": 1}', '{"host": "x"}'])
def test_a_damaged_file_is_drawn_anew(store, folder, content):
    (folder / ".kimi/copy").write_text(content)
    own = copy_id(store)
    assert own
    assert json.loads((folder / ".kimi/copy").read_text())["copy"] == own


def test_where_nothing_can_be_written_there_is_none(store, folder: Path):
    store.read_only = "the disk says no"
    assert copy_id(store) == ""
    store.read_only = ""
    (folder / ".kimi/copy").mkdir()
    assert copy_id(store) == ""


def test_two_processes_draw_one_id(store, folder, monkeypatch):
    found, reached = [], threading.Event()
    with Store.open(folder, key=KEY) as other:
        lock = other.lock

        def noted(name):
            reached.set()
            return lock(name)

        monkeypatch.setattr(other, "lock", noted)
        late = threading.Thread(target=lambda: found.append(copy_id(other)))
        with store.lock("copy"):
            late.start()
            assert reached.wait(20)
            own = copy_id(store)
        late.join(20)
    assert found == [own]


def make(folder, copy):
    (folder / ".kimi").mkdir(parents=True)
    (folder / ".kimi/copy").write_text(json.dumps({"copy": copy}))
    return folder


def test_each_folder_finds_the_others(tmp_path):
    state, a, b = tmp_path / "state", make(tmp_path / "甲", "aaa"), make(tmp_path / "b", "bbb")
    assert other_copies(state, "memory-1", a) == []
    for folder, copy in ((a, "aaa"), (b, "bbb"), (a, "aaa")):
        note_copy(state, "memory-1", folder, copy)
    assert other_copies(state, "memory-1", a) == [str(b)]
    assert other_copies(state, "memory-1", b) == [str(a)]
    assert other_copies(state, "memory-2", a) == []
    assert other_copies(state, "", a) == []


def test_what_is_gone_or_another_copy_now_is_forgotten(tmp_path):
    state, a, b = tmp_path / "state", make(tmp_path / "a", "aaa"), make(tmp_path / "b", "bbb")
    note_copy(state, "memory-1", b, "bbb")
    (b / ".kimi/copy").write_text('{"copy": "ccc"}')
    note_copy(state, "memory-1", a, "aaa")
    assert json.loads((state / "copies/memory-1.json").read_text()) == {str(a): "aaa"}
    assert other_copies(state, "memory-1", b) == [str(a)]
    (a / ".kimi/copy").unlink()
    assert other_copies(state, "memory-1", b) == []


def test_without_an_id_nothing_is_noted(tmp_path):
    note_copy(tmp_path / "state", "", tmp_path, "aaa")
    note_copy(tmp_path / "state", "memory-1", tmp_path, "")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_damaged_list_is_begun_anew(tmp_path, content):
    state, a = tmp_path / "state", make(tmp_path / "a", "aaa")
    (state / "copies").mkdir(parents=True)
    (state / "copies/memory-1.json").write_text(content)
    note_copy(state, "memory-1", a, "aaa")
    assert other_copies(state, "memory-1", tmp_path) == [str(a)]


def test_a_list_that_cannot_be_written_waits(tmp_path):
    (tmp_path / "state").write_text("no folder")
    note_copy(tmp_path / "state", "memory-1", make(tmp_path / "a", "aaa"), "aaa")
    assert other_copies(tmp_path / "state", "memory-1", tmp_path) == []


def made(*, trailer: str = "", name: str = "Checkpoint") -> Commit:
    return Commit("0" * 40, datetime.now(UTC), "x", "y", {name: trailer} if trailer else {})


def test_a_checkpoint_tells_copy_number_and_hash(store, actor):
    store.apply([Create("a.md", b"")], actor)
    commit = made(trailer=checkpoint(store)["Checkpoint"])
    assert copy_of(commit) == copy_id(store)
    found = checkpoints_of([commit, made(), made(trailer="12 abc")], copy_id(store))
    assert found == {store.journal.head()}
    assert store.journal.verify(found) == []
    assert checkpoints_of([commit], "another1") == set()
    assert checkpoints_of([made(trailer="own x hash")], "own") == set()
    assert checkpoints_of([commit], "") == set()


def test_whose_a_commit_is():
    assert copy_of(made()) is None
    assert copy_of(made(trailer="12 abc")) == ""


def test_where_nothing_is_sure_to_last_there_is_none(store, monkeypatch, folder):
    def refuse(fd):
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(store.journal._tree.disk, "fdatasync", refuse)
        assert checkpoint(store) == {}
    assert checkpoint(store) != {}
    (folder / ".kimi/copy").unlink()
    (folder / ".kimi/copy").mkdir()
    assert checkpoint(store) == {}
