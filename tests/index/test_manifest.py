"""An index file is hashed once a day: no change of it goes unseen for that."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from folders import KEY, Folder, fill

from kimi_memory.errors import IndexDamagedError
from kimi_memory.index import manifest
from kimi_memory.index.stored import Shelf

INDEX = ".kimi/index"


class Clock:
    """The system's clock, ahead by so many seconds."""

    ahead = 60.0

    def time_ns(self) -> int:
        return time.time_ns() + int(self.ahead * 1e9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A minute later, so that what was just written has come to rest."""
    made = Clock()
    monkeypatch.setattr(manifest, "time", made)
    return made


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that were hashed."""
    names: list[str] = []
    known = manifest._hash_file
    monkeypatch.setattr(
        manifest, "_hash_file", lambda path: (names.append(path.name), known(path))[1]
    )
    return names


@pytest.fixture
def shelf(folder: Folder, clock: Clock, hashed: list[str]) -> Shelf:
    fill(folder)
    index = folder.index()
    index.refresh()
    index.close()
    made = Shelf(folder.root / INDEX, KEY)
    (made.folder / manifest.CHECKED).unlink(missing_ok=True)
    hashed.clear()
    assert made.open() is not None
    assert len(hashed) >= 3
    hashed.clear()
    return made


def biggest(shelf: Shelf) -> Path:
    found = (path for path in (shelf.folder / shelf.current_name()).rglob("*") if path.is_file())
    return max(found, key=lambda path: path.stat().st_size)


def test_what_was_checked_is_not_read_again(shelf: Shelf, hashed: list[str]) -> None:
    assert shelf.open() is not None
    assert hashed == []


def test_a_byte_that_changed_is_seen_though_the_time_was_set_back(shelf: Shelf) -> None:
    path = biggest(shelf)
    before, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x41
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(IndexDamagedError):
        shelf.open()


def test_a_file_that_another_took_the_place_of_is_read(shelf: Shelf, hashed: list[str]) -> None:
    path = biggest(shelf)
    twin = path.with_name("twin")
    twin.write_bytes(path.read_bytes())
    twin.replace(path)
    assert shelf.open() is not None
    assert hashed == [path.name]


@pytest.mark.parametrize("ahead", [24 * 3600 + 120, -3600])
def test_it_is_good_for_a_day_and_not_before(
    shelf: Shelf, hashed: list[str], clock: Clock, ahead: float
) -> None:
    clock.ahead = ahead
    assert shelf.open() is not None
    assert len(hashed) >= 3


def test_a_check_of_a_part_makes_the_rest_last_no_longer(
    shelf: Shelf, hashed: list[str], clock: Clock
) -> None:
    clock.ahead = 20 * 3600
    os.utime(biggest(shelf))
    shelf.open()
    assert len(hashed) == 1
    clock.ahead = 25 * 3600
    shelf.open()
    assert len(hashed) > 3


@pytest.mark.parametrize("change", ["sign", "cut", "folder", "gone"])
def test_what_this_machine_did_not_write_down_counts_for_nothing(
    shelf: Shelf, hashed: list[str], change: str
) -> None:
    path = shelf.folder / manifest.CHECKED
    mac, _, body = path.read_bytes().partition(b"\n")
    if change == "sign":
        path.write_bytes(mac[:-1] + b"x\n" + body)
    elif change == "cut":
        path.write_bytes(mac[:20])
    elif change == "folder":
        _, at, rows = json.loads(body)
        other = json.dumps(["g000009-00000000", at, rows]).encode()
        mac = manifest.Checked(path, KEY, "")._compute_mac(other)
        path.write_bytes(mac + b"\n" + other)
    else:
        path.unlink()
    assert shelf.open() is not None
    assert len(hashed) >= 3


def test_what_was_just_written_is_not_trusted_yet(
    folder: Folder, hashed: list[str], clock: Clock
) -> None:
    clock.ahead = 0.0
    fill(folder)
    index = folder.index()
    index.refresh()
    index.close()
    for path in (folder.root / INDEX).rglob("*"):
        os.utime(path)
    shelf = Shelf(folder.root / INDEX, KEY)
    for _ in range(2):
        hashed.clear()
        shelf.open()
        assert len(hashed) >= 3


def test_a_folder_that_takes_no_writes_is_read_all_the_same(
    shelf: Shelf, hashed: list[str]
) -> None:
    (shelf.folder / manifest.CHECKED).unlink()
    (shelf.folder / manifest.CHECKED).mkdir()
    (shelf.folder / manifest.CHECKED / "x").touch()
    for _ in range(2):
        hashed.clear()
        assert shelf.open() is not None
        assert len(hashed) >= 3
    assert not list(shelf.folder.glob(f"{manifest.CHECKED}.*"))
