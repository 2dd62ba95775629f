"""A memory that commands find."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.cli import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Path:
    """A memory made by ``init``, found through the environment."""
    path = tmp_path / "memory"
    assert run(["init", str(path), "--name", "测试", "--language", "zh"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("KIMI_MEMORY", str(path))
    return path
