"""The id of a copy: steady in its folder, another one in every other."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from kimi_memory.store.copy import copy_id
from kimi_memory.store.files import ownership
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
    monkeypatch.setattr(ownership, "Path", lambda path: tmp_path / "none")
    monkeypatch.setattr(ownership.platform, "node", lambda: "another machine")
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
