"""Files and programs outside of memories: whole or not at all, refusals named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.errors import DiskError, UsageError
from kimi_memory.surfaces import outside


def test_a_file_is_put_whole_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    assert outside.text_at(path) == ""
    outside.put(path, "茶\n")
    assert outside.text_at(path) == "茶\n"
    assert [p.name for p in path.parent.iterdir()] == ["b.txt"]
    outside.drop(path)
    outside.drop(path)
    assert not path.exists()


def test_what_the_system_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DiskError, match="may write to"):
        outside.put(tmp_path / "file" / "b", "x")
    with pytest.raises(DiskError, match="by hand"):
        outside.drop(tmp_path)
    with pytest.raises(DiskError, match="permissions"):
        outside.text_at(tmp_path)


def test_programs_are_called_with_bytes_kept() -> None:
    odd = b"a\xff\n".decode("utf-8", "surrogateescape")
    assert outside.call(["cat"], odd) == (0, odd, "")
    assert outside.call(["false"])[0] == 1
    with pytest.raises(UsageError, match="no such-program-at-all"):
        outside.call(["such-program-at-all"])


def test_a_diff_names_what_is_new_and_gone() -> None:
    assert outside.diff("", "a\n", "f").splitlines()[:2] == ["--- /dev/null", "+++ f"]
    assert "+++ /dev/null" in outside.diff("a\n", "", "f")
