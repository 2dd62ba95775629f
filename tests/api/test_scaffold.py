"""A new memory: what is laid out, and where none may be made."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.errors import HistoryError
from tests.jobs.test_runner import tree


def test_creating_where_a_memory_is_opens_it(memory: Memory, opening: Opening) -> None:
    before = tree(memory.root)
    with Memory.create(memory.root, name="other", opening=opening) as again:
        assert again.settings == memory.settings
    assert tree(memory.root) == before


def test_in_the_root_of_a_code_repository_nothing_is_written(
    tmp_path: Path, opening: Opening
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "main.py").write_text("print()\n", encoding="utf-8")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", code, *words], check=True)
    with pytest.raises(HistoryError):
        Memory.create(code, opening=opening)
    assert sorted(path.name for path in code.iterdir()) == [".git", "main.py"]


def test_a_memory_copied_without_history_gets_one(memory: Memory, opening: Opening) -> None:
    shutil.rmtree(memory.root / ".git")
    before = tree(memory.root)
    with Memory.create(memory.root, opening=opening) as again:
        assert [commit.trailers["Kind"] for commit in again.history.log()] == ["init"]
    assert tree(memory.root) == before


def test_files_that_lie_in_the_folder_are_kept(tmp_path: Path, opening: Opening) -> None:
    mine = tmp_path / "memory" / "USER.md"
    mine.parent.mkdir()
    mine.write_text("# me\n", encoding="utf-8")
    with Memory.create(mine.parent, opening=opening):
        assert mine.read_text(encoding="utf-8") == "# me\n"
