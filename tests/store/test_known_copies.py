"""Which folders of this machine hold one memory."""

import json

import pytest

from kimi_memory.store.known_copies import note_copy, other_copies


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
