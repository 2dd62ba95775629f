"""Commands find their memory, and answer by its files as they are."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.cli.locate import find_memory
from kimi_memory.errors import NotAMemoryError
from tests.index.test_folder import put


@pytest.fixture
def root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    found = tmp_path / "记忆"
    assert run(["init", str(found)]) == 0
    capsys.readouterr()
    put(found, "notes/deep/茶.md", "# Tea\n\nWe drink oolong.\n")
    monkeypatch.delenv("KIMI_MEMORY", raising=False)
    return found


def test_a_memory_is_named_or_lies_above(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_memory(Namespace(memory=root)) == root
    monkeypatch.setenv("KIMI_MEMORY", str(root))
    assert find_memory(Namespace(memory=None)) == root
    monkeypatch.delenv("KIMI_MEMORY")
    monkeypatch.chdir(root / "notes/deep")
    assert find_memory(Namespace(memory=None)).samefile(root)
    monkeypatch.chdir(root.parent)
    with pytest.raises(NotAMemoryError):
        find_memory(Namespace(memory=None))


def test_a_command_answers_by_the_files_as_they_are(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["recall", "oolong", "--json", "--memory", str(root)]
    for edit in ("We drink oolong.", "We never drank oolong.", "Oolong, always."):
        put(root, "notes/deep/茶.md", f"# Tea\n\n{edit}\n")
        for _ in range(2):
            assert run(asked) == 0
            shown = capsys.readouterr().out
            assert len(json.loads(shown)["hits"]) == 1
            assert edit in shown
            run(["index", "--memory", str(root)])
            capsys.readouterr()
    (root / "notes/deep/茶.md").unlink()
    assert run(asked) == 0
    assert json.loads(capsys.readouterr().out)["hits"] == []
