"""How files look: what tells a changed file from the one that was read, and when it may."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kimi_memory.store.files.stat import (
    UNKNOWN,
    list_folder,
    settled_stat,
    signature,
    state_of,
    walk,
)

NOW = 1_772_000_000_123_456_789


@pytest.mark.parametrize(
    ("changed", "known"),
    [
        (NOW - 60_000_000, True),
        (NOW - 40_000_000, False),
        (NOW + 1, False),
        (1_771_999_999_000_000_000, False),
        (1_771_999_990_000_000_000, True),
    ],
    ids=["old", "fresh", "future", "coarse clock", "coarse and old"],
)
def test_a_file_changed_a_moment_ago_is_not_known(changed: int, known: bool) -> None:
    look = (1, changed, 7)
    assert settled_stat(look, NOW) == (look if known else UNKNOWN)


def test_a_file_written_anew_with_its_size_and_time_looks_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    before, was = state_of(tmp_path, "a.md"), path.stat()
    assert before == signature(was)
    while path.stat().st_ctime_ns == was.st_ctime_ns:  # The clock of the disk has ticks.
        time.sleep(0.001)
        path.write_bytes(b"two")
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert path.stat().st_mtime_ns == was.st_mtime_ns
    assert state_of(tmp_path, "a.md") != before
    assert state_of(tmp_path, "none.md") is None


def test_a_walk_goes_below_but_not_behind_links_nor_into_what_is_hidden(tmp_path: Path) -> None:
    for path in ("a/b/one.md", ".hidden/two.md", "a/.three.md", "a/four.txt", "five.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "link.md").symlink_to(tmp_path / "five.md")
    (tmp_path / "out").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe.md")
    asked: list[str] = []

    def wanted(path: str) -> bool:
        asked.append(path)
        return path.endswith(".md")

    found = {path: listed for path, listed in walk(str(tmp_path), "", wanted)}
    assert found.keys() == {"", "a/", "a/b/"}
    assert found["a/b/"].files == {"a/b/one.md": state_of(tmp_path, "a/b/one.md")}
    assert (found["a/"].files, found["a/"].folders) == ({}, ["a/b/"])
    assert sorted(asked) == ["a/b/one.md", "a/four.txt", "five.md"]
    assert [path for path, _ in walk(str(tmp_path), "none/", wanted)] == []


def test_a_file_that_goes_meanwhile_is_left_out(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.md").write_bytes(b"")

    def wanted(path: str) -> bool:
        if path != "0.md":
            (tmp_path / path).unlink()
        return True

    listed = list_folder(str(tmp_path), "", wanted)
    assert listed is not None
    assert list(listed.files) == ["0.md"]


def test_the_time_of_a_folder_is_relied_on_once_it_is_old(tmp_path: Path) -> None:
    listed = list_folder(str(tmp_path), "", lambda path: True)
    assert listed is not None
    assert listed.at == 0
    old = time.time_ns() - 10_000_000_000
    os.utime(tmp_path, ns=(old, old))
    listed = list_folder(str(tmp_path), "", lambda path: True)
    assert listed is not None
    assert listed.at == old
