"""Derived files: written whole or not at all, and only when it is worth it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.files.cache_files import put, worth_writing


@pytest.mark.parametrize(
    ("news", "rows", "worth"),
    [
        (0, 0, False),
        (64, 0, False),
        (65, 320, True),
        (65, 10_000, False),
        (2_001, 10_000, True),
        (1_800, 10_000, False),
    ],
)
def test_a_file_is_written_for_a_fifth_of_it(news: int, rows: int, worth: bool) -> None:
    assert worth_writing(news, rows) is worth


@pytest.mark.parametrize("sync", [False, True])
def test_a_file_is_replaced_whole(tmp_path: Path, sync: bool) -> None:
    path = tmp_path / "new" / "目录"
    put(path, b"one", sync=sync)
    put(path, b"2", sync=sync)
    assert path.read_bytes() == b"2"
    assert [one.name for one in path.parent.iterdir()] == ["目录"]
    # Derived files repeat what notes say: nobody else on the machine may list them.
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_is_put_into_folders_that_are_made_on_the_way(tmp_path: Path) -> None:
    put(tmp_path / "a" / "b" / "c", b"x")
    assert (tmp_path / "a" / "b" / "c").read_bytes() == b"x"


def test_a_place_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(HistoryError, match="could not be written"):
        put(tmp_path / "taken", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(HistoryError, match="could not be written"):
        put(tmp_path / "file" / "x", b"x")


@pytest.mark.parametrize("sync", [False, True])
def test_who_asks_for_it_finds_the_whole_file_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: bool
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    put(tmp_path / "x", b"content", sync=sync)
    assert synced == ([7] if sync else [])
