"""Commands find their memory, and those that ask have it looked at before they are loaded."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.cli.locate import ahead, find_memory
from kimi_memory.errors import NotAMemoryError
from kimi_memory.index import scout
from kimi_memory.index.files import scan
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


@pytest.mark.parametrize(
    "words",
    [["recall", "oolong", "--memory"], ["context", "--json", "--memory"], ["recall", "--mem"]],
)
def test_a_command_that_asks_sends_a_scout(root: Path, words: list[str]) -> None:
    with ahead([*words, str(root)]):
        assert dict(scout.scouted(str(root)) or {}) == scan(root) != {}


@pytest.mark.parametrize(
    "words", [[], ["status"], ["recall", "--memory"], ["recall", "x", "--memory", "/nowhere"]]
)
def test_others_send_none_that_tells_anything(
    root: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    with ahead(words):
        assert not scout.is_out(str(root))


def test_what_a_scout_saw_is_what_is_found(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
