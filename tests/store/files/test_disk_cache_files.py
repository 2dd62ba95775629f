"""Derived files: written whole or not at all, and only when it is worth it."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.files.disk import give_back, put, uncollected, worth_writing


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


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was(running: bool) -> None:
    (gc.enable if running else gc.disable)()
    try:
        with pytest.raises(KeyError), uncollected():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is running
    finally:
        gc.enable()


def test_what_is_free_is_given_back() -> None:
    statm = Path("/proc/self/statm")
    if not (statm.exists() and hasattr(ctypes.CDLL(None), "malloc_trim")):
        pytest.skip("this system tells no process its size, or gives nothing back")

    def pages() -> int:
        return int(statm.read_text().split()[1])

    held = [bytes([n % 256]) * 2000 for n in range(50_000)]
    among = held[::100]  # so that no end of the heap is free
    before = pages()
    del held
    give_back()
    assert (before - pages()) * os.sysconf("SC_PAGE_SIZE") > 20e6
    assert len(among) == 500


def test_lasting_values_are_searched_no_more() -> None:
    before = gc.get_freeze_count()
    try:
        with uncollected(lasting=True):
            made = [[n] for n in range(1000)]
        assert gc.get_freeze_count() - before >= len(made)
        assert not {id(one) for one in gc.get_objects()} & {id(one) for one in made}
    finally:
        gc.unfreeze()
