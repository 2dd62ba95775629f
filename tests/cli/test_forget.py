"""``forget``: from the command line, with preview and undo."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer
from tests.cli.conftest import Screen

TEXT = "My dentist is Doctor Abernathy in Oslo."


def test_a_key_is_forgotten_and_told_when_it_is_remembered_again(folder, capsys) -> None:
    run(["remember", TEXT, "--key", "health.dentist"])
    capsys.readouterr()
    [preview] = answer(capsys, "forget", "--key", "health.dentist", "--dry-run")
    assert "+status: archived" in preview["diff"]
    [report] = answer(capsys, "forget", "--key", "health.dentist", "--why", "moved", "--hash")
    assert [op["op"] for op in report["operations"]] == ["FORGET"]
    stones = (folder / "mid-term" / "tombstones.jsonl").read_text(encoding="utf-8")
    assert json.loads(stones.splitlines()[0])["why"] == "moved"
    assert "abernathy" not in stones.lower()
    assert run(["remember", TEXT]) == 0
    assert "forgotten on purpose" in capsys.readouterr().out
    hits = answer(capsys, "recall", "dentist")["hits"]
    assert "card" not in {hit["unit"]["kind"] for hit in hits}
    assert answer(capsys, "undo", report["id"])["id"] == report["id"]
    hits = answer(capsys, "recall", "dentist")["hits"]
    assert "card" in {hit["unit"]["kind"] for hit in hits}


def test_what_was_forgotten_is_listed_on_a_terminal_alone(folder, capsys, screen: Screen) -> None:
    run(["remember", TEXT, "--key", "health.dentist"])
    run(["remember", "The spare boat lies in Bergen.", "--key", "boat.place"])
    run(["forget", "--key", "health.dentist", "--why", "moved"])
    run(["forget", "--key", "boat.place", "--hash"])
    capsys.readouterr()
    for words in ([], ["--json"]):
        assert run(["forget", "--list", *words]) == 2
        assert "on a terminal alone" in capsys.readouterr().err
    with screen.taken():
        assert run(["forget", "--list"]) == 0
    said = " ".join(screen.text.split())
    first, _, second = said.partition(": moved")
    assert second, said
    assert "health.dentist memory my dentist is doctor abernathy in oslo" in first.lower()
    assert "boat.place memory only a hash is kept" in second
    assert "bergen" not in said.lower()


def test_what_is_not_there_has_its_exit_code(folder, capsys) -> None:
    assert run(["forget", "card-none"]) == 11
    assert run(["forget"]) == 2
    assert "Say what to forget" in capsys.readouterr().err


def remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a memory that remembers one thing, with its pages."""
    path = tmp_path / "memory"
    run(["init", str(path)])
    monkeypatch.setenv("KIMI_MEMORY", str(path))
    run(["remember", TEXT, "--key", "health.dentist"])
    run(["session", "start", "s"])
    run(["session", "turn", "s", "今天天气不错，随便聊聊。"])
    run(["session", "end", "s"])
    run(["consolidate", "daily"])
    return path


@pytest.mark.parametrize(
    "what",
    [["--query", "doctor abernathy"], ["--since", "2020-01-01"], ["--session", "remembered"]],
)
def test_what_may_be_much_is_shown_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, what: list[str]
) -> None:
    remembered(tmp_path, monkeypatch)
    capsys.readouterr()
    assert run(["forget", *what]) == 0
    said = capsys.readouterr().out
    assert "health.dentist" in said and "Nothing was changed" in said
    assert "card" in {hit["unit"]["kind"] for hit in answer(capsys, "recall", "dentist")["hits"]}
    [report] = answer(capsys, "forget", *what, "--yes")
    assert "FORGET" in {op["op"] for op in report["operations"]}
    assert not [
        hit for hit in answer(capsys, "recall", "dentist")["hits"] if "Abernathy" in hit["snippet"]
    ]


@pytest.mark.parametrize(("typed", "kept"), [("y\n", False), ("是\n", False), ("\n", True)])
def test_at_a_terminal_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, typed: str, kept: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    remembered(tmp_path, monkeypatch)
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr", Terminal())
    assert run(["forget", "--query", "doctor abernathy"]) == 0
    monkeypatch.undo()
    page = (tmp_path / "memory" / "MEMORY.md").read_text(encoding="utf-8")
    assert ("Abernathy" in page) is kept
