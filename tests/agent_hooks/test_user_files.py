"""Files and programs outside of memories: whole or not at all, refusals named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.agent_hooks import user_files
from kimi_memory.errors import DiskError, UsageError


def test_a_file_is_put_whole_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    assert user_files.text_at(path) == ""
    user_files.put(path, "茶\n")
    assert user_files.text_at(path) == "茶\n"
    assert [p.name for p in path.parent.iterdir()] == ["b.txt"]
    user_files.drop(path)
    user_files.drop(path)
    assert not path.exists()


def test_what_the_system_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DiskError, match="may write to"):
        user_files.put(tmp_path / "file" / "b", "x")
    with pytest.raises(DiskError, match="by hand"):
        user_files.drop(tmp_path)
    with pytest.raises(DiskError, match="permissions"):
        user_files.text_at(tmp_path)


def test_programs_are_called_with_bytes_kept() -> None:
    odd = b"a\xff\n".decode("utf-8", "surrogateescape")
    assert user_files.call(["cat"], odd) == (0, odd, "")
    assert user_files.call(["false"])[0] == 1
    with pytest.raises(UsageError, match="no such-program-at-all"):
        user_files.call(["such-program-at-all"])


def test_a_diff_names_what_is_new_and_gone() -> None:
    assert user_files.diff("", "a\n", "f").splitlines()[:2] == ["--- /dev/null", "+++ f"]
    assert "+++ /dev/null" in user_files.diff("a\n", "", "f")
