"""What commands print of a job, for people."""

from __future__ import annotations

import json
import threading
from argparse import Namespace
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.cli.shared import find_memory, show_report
from kimi_memory.domain.job import JobReport, Spent
from kimi_memory.errors import NotAMemoryError
from tests.index.test_files import put
from tests.test_copies import git


def test_a_report_tells_which_model_took_part_and_what_it_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_report(
        JobReport(
            id="distil-1",
            kind="distil",
            subject="s1",
            left_out=("finding.x: proposed by the model, which no person said",),
            model="ollama:qwen3:4b",
            spent=Spent(calls=2, tokens_in=812, tokens_out=96),
        )
    )
    shown = capsys.readouterr().out
    assert "model        ollama:qwen3:4b: 2 asked, 812 tokens in, 96 out" in shown
    assert "left out     finding.x: proposed by the model" in shown


def test_a_command_that_an_agent_calls_names_the_run_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "m"
    assert not run(["init", str(root)])
    for text, said in (("Tea is green.", "run-01m8qv9b7r"), ("Rum is brown.", "run 1\n")):
        monkeypatch.setenv("KIMI_RUN", said)
        assert not run(["remember", text, "--memory", str(root)])
    with Memory.open(root) as memory:
        assert {one.get("run") for one in memory.store.journal.records()} == {
            None,
            "run-01m8qv9b7r",
        }


def test_a_report_without_a_model_says_nothing_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    show_report(JobReport(id="distil-1", kind="distil", subject="s1"))
    assert "model" not in capsys.readouterr().out


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


def test_a_turn_waits_for_no_commit_of_files_that_another_process_takes_note_of(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write("\n[history]\nquiet_seconds = 0.0\n")
    turn = ["session", "turn", "s", "The tea is oolong.", "--memory", str(root)]
    assert run(turn) == 0
    done = git(root, "rev-parse", "HEAD")
    ready, over = threading.Event(), threading.Event()

    def reconcile() -> None:
        with Memory.open(root) as other, other.store.lock("reconcile"):
            ready.set()
            over.wait(60)

    beside = threading.Thread(target=reconcile)
    beside.start()
    ready.wait(60)
    assert run(turn) == 0
    assert git(root, "rev-parse", "HEAD") == done
    assert not capsys.readouterr().err
    over.set()
    beside.join()
    assert run(turn) == 0
    assert git(root, "rev-parse", "HEAD") != done
    assert not git(root, "status", "--porcelain")
