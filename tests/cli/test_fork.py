"""The command that makes a memory of its own of what one knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run


def test_a_fork_is_foretold_and_then_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, place = tmp_path / "m", tmp_path / "new" / "fork"
    assert not run(["init", str(root)])
    assert not run(["remember", "Tea is green.", "--memory", str(root)])
    words = ["fork", "--memory", str(root), "--name", "Work"]
    for wrong, why in (
        ([], "Name a folder, or a machine with --on"),
        ([str(place), "--on", "rack"], "Name a folder, or a machine with --on"),
        ([str(root), "--dry-run"], "lies in the memory itself"),
        ([str(place), "--dry-run", "--at", "never was"], "is no point in the history"),
    ):
        capsys.readouterr()
        assert run([*words, *wrong]) != 0
        assert why in capsys.readouterr().err
    assert run([*words, str(place), "--dry-run"]) == 0
    assert f"Would make {place}, of what was known at " in capsys.readouterr().out
    assert not place.parent.exists()
    assert run([*words, str(place)]) == 0
    with Memory.open(place) as fork:
        assert fork.settings.memory.name == "Work" and fork.recall("tea").hits
