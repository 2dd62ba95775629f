"""A private folder that this machine did not write for this memory is set aside."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.errors import DiskError
from kimi_memory.store.copy import copy_id
from kimi_memory.store.files import locks
from kimi_memory.store.files.locks import claim
from kimi_memory.store.store import Store

KEY, OTHER = b"k" * 32, b"another machine's"
EVERYTHING = ("spool", "undo", "breaker", "journal", "index", "snapshot.json")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "m"
    folder.mkdir()
    return folder


def lived(root: Path, key: bytes) -> None:
    """Leave what a machine leaves."""
    claim(root, key)
    with Store.open(root, key=key) as store:
        copy_id(store)
        store.reconcile()
        store.view(".kimi/snapshot.json", b"{}")
    for name in ("spool", "breaker", "index"):
        (root / ".kimi" / name).mkdir()
        (root / ".kimi" / name / "a").write_bytes(b"a")


def names(root: Path) -> set[str]:
    return {path.name for path in (root / ".kimi").iterdir()} & set(EVERYTHING)


def aside(root: Path) -> set[str]:
    found = (root / ".kimi/lost+found").glob("elsewhere-*/*")
    return {path.name for path in found}


def test_ours_stays(root: Path) -> None:
    lived(root, KEY)
    before = names(root)
    claim(root, KEY)
    assert names(root) == before == set(EVERYTHING)
    root.rename(root.with_name("renamed"))
    claim(root.with_name("renamed"), KEY)
    assert names(root.with_name("renamed")) == before


def test_another_user_of_this_machine_shares_it(root: Path) -> None:
    lived(root, OTHER)
    claim(root, KEY)
    assert names(root) == set(EVERYTHING)


def test_who_writes_just_now_is_no_stranger(root: Path) -> None:
    lived(root, OTHER)
    arrives(root)
    with Store.open(root, key=OTHER) as store, store.lock("store"):
        claim(root, KEY)
        assert names(root) == set(EVERYTHING)
    claim(root, KEY)
    assert names(root) == set()
    assert (root / ".kimi/locks/store.lock").is_file()


def arrives(root: Path) -> None:
    """Let a folder be one that was written elsewhere."""
    for name in ("owner", "copy"):
        place = root / ".kimi" / name
        place.write_text(json.dumps({**json.loads(place.read_bytes()), "ino": 1}))


def test_a_strangers_is_set_aside(root: Path) -> None:
    lived(root, OTHER)
    arrives(root)
    claim(root, KEY)
    assert names(root) == set()
    assert aside(root) >= {"spool", "undo", "breaker", "journal", "snapshot.json", "owner"}
    lived(root, KEY)
    claim(root, KEY)
    assert names(root) == set(EVERYTHING)


def test_of_a_folder_that_was_copied_stays_what_is_sealed(root: Path) -> None:
    lived(root, KEY)
    other = root.with_name("copied")
    shutil.copytree(root, other)
    claim(other, KEY)
    assert names(other) == {"journal", "index", "snapshot.json"}
    assert {"spool", "breaker", "undo"} <= aside(other)


def test_what_an_earlier_version_left_without_a_mark_stays(root: Path) -> None:
    lived(root, KEY)
    (root / ".kimi/owner").unlink()
    claim(root, KEY)
    assert names(root) == set(EVERYTHING)
    (root / ".kimi/owner").unlink()
    (root / ".kimi/copy").unlink()
    claim(root, KEY)
    assert names(root) == {"journal", "index", "snapshot.json"}


@pytest.mark.parametrize("line", ["", "not json\n", "[]\n", '{"mac": "x"}\n'])
def test_a_journal_that_proves_nothing_is_a_strangers(root: Path, line: str) -> None:
    lived(root, KEY)
    (root / ".kimi/owner").unlink()
    for segment in (root / ".kimi/journal").iterdir():
        segment.write_text(line, encoding="utf-8")
    claim(root, KEY)
    assert names(root) == set()


def link(place: Path) -> None:
    place.symlink_to("/etc")


def pipe(place: Path) -> None:
    os.mkfifo(place)


def plain(place: Path) -> None:
    place.write_bytes(b"\xff")


def folder(place: Path) -> None:
    (place / "x").mkdir(parents=True)


@pytest.mark.parametrize("make", [link, plain])
def test_a_private_folder_that_is_none_is_set_aside(
    root: Path, make: Callable[[Path], None]
) -> None:
    make(root / ".kimi")
    claim(root, KEY)
    assert aside(root) == {"no-folder"}
    lived(root, KEY)
    assert names(root) == set(EVERYTHING)


@pytest.mark.parametrize("make", [link, plain, folder, pipe])
@pytest.mark.parametrize("name", ["owner", "journal", "lost+found", "locks", "index"])
def test_whatever_stands_there_is_set_aside(
    root: Path, make: Callable[[Path], None], name: str
) -> None:
    (root / ".kimi").mkdir()
    make(root / ".kimi" / name)
    claim(root, KEY)
    lived(root, KEY)
    assert names(root) == set(EVERYTHING)


def test_a_journal_without_segments_proves_nothing(root: Path) -> None:
    (root / ".kimi/journal").mkdir(parents=True)
    (root / ".kimi/spool").mkdir()
    claim(root, KEY)
    assert aside(root) == {"journal", "spool"}


def test_marks_of_another_form_are_none(root: Path) -> None:
    lived(root, KEY)
    (root / ".kimi/owner").write_text(json.dumps(["x"]), encoding="utf-8")
    claim(root, KEY)
    assert names(root) == set(EVERYTHING)


def test_where_nothing_can_be_written_nothing_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(locks, "_write_owner_mark", refuse)
    claim(root, KEY)
    assert not (root / ".kimi/owner").exists()


def test_a_full_disk_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locks, "_write_owner_mark", refuse)
    with pytest.raises(DiskError):
        claim(root, KEY)


def test_who_came_first_has_marked_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([frozenset(), None])
    monkeypatch.setattr(locks, "_names_to_keep", lambda root, key: next(answers))
    claim(root, KEY)
    assert not (root / ".kimi").exists()
