"""Files outside of the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.errors import UsageError
from kimi_memory.store.files.outside import check_new_file, check_outside, write_whole


def test_a_file_outside_of_the_memory_is_new(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    check_new_file(root, tmp_path / "new")
    (tmp_path / "old").touch()
    with pytest.raises(UsageError, match="is there already"):
        check_new_file(root, tmp_path / "old")
    with pytest.raises(UsageError, match="lies in the memory itself"):
        check_outside(root, root / "a" / ".." / "new")


def test_a_file_gets_its_name_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with write_whole(path) as part:
        part.write_bytes(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all"
    with pytest.raises(ZeroDivisionError), write_whole(path) as part:
        part.write_bytes(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"all" and list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"), write_whole(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b").write_bytes(b"")
