"""The folders of a new memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.errors import DiskError
from kimi_memory.store.files.create_folders import lay


def test_folders_are_made_once_and_kept(tmp_path: Path) -> None:
    root = tmp_path / "深/memory"
    lay(root, ("short-term", "semantic"))
    (root / "semantic/a.md").write_text("a", encoding="utf-8")
    lay(root, ("short-term", "semantic"))
    assert sorted(path.name for path in root.iterdir()) == ["semantic", "short-term"]
    assert (root / "semantic/a.md").is_file()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "semantic").write_text("mine", encoding="utf-8")
    with pytest.raises(DiskError, match="semantic"):
        lay(tmp_path, ("semantic",))
