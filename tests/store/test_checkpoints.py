"""Checkpoints name their copy, and are none where the journal may not last."""

import errno
from datetime import UTC, datetime

from kimi_memory.domain.change import Create
from kimi_memory.domain.operation_types import Commit
from kimi_memory.store.checkpoints import checkpoint, checkpoints_of, copy_of
from kimi_memory.store.copy import copy_id


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
