"""``conflicts``: from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer


@pytest.fixture
def torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Path:
    """A memory with one conflict."""
    folder = tmp_path / "memory"
    run(["init", str(folder)])
    monkeypatch.setenv("KIMI_MEMORY", str(folder))
    run(["remember", "部署端口是 8080。", "--key", "deploy.port"])
    run(["remember", "部署端口是 8081。", "--key", "deploy.port"])
    capsys.readouterr()
    return folder


def test_both_sides_are_shown_and_one_is_kept(torn: Path, capsys) -> None:
    [found] = answer(capsys, "conflicts")
    sides = [side["id"] for side in found["sides"]]
    assert run(["conflicts", "deploy.port"]) == 0
    said = capsys.readouterr().out
    for word in (*sides, "8080", "8081", "conflicts/deploy.port.md", "--keep"):
        assert word in said
    [preview] = answer(capsys, "conflicts", "deploy.port", "--keep", sides[0], "--dry-run")
    assert "+status: superseded" in preview["diff"]
    [report] = answer(capsys, "conflicts", "deploy.port", "--keep", sides[0])
    assert {op["op"] for op in report["operations"]} == {"REFINE", "SUPERSEDE"}
    assert not (torn / "conflicts/deploy.port.md").exists()
    assert run(["conflicts"]) == 0
    assert "No conflicts" in capsys.readouterr().out
    answer(capsys, "undo", str(report["id"]))
    assert len(answer(capsys, "conflicts", sides[0][:-2])) == 1


def test_another_value_and_a_date_may_settle_it(torn: Path, capsys) -> None:
    words = ["conflicts", "deploy.port", "--both", "--since", "2026-03-01", "--dry-run"]
    [preview] = answer(capsys, *words)
    assert "+valid_to: 2026-03-01" in preview["diff"]
    answer(capsys, "conflicts", "deploy.port", "--value", "端口是 9090。")
    best = answer(capsys, "recall", "端口 9090")["hits"][0]
    assert best["unit"]["text"] == "端口是 9090。"


def test_what_is_missing_is_said(torn: Path, capsys) -> None:
    assert run(["conflicts", "--both"]) == 2
    assert "which conflict" in capsys.readouterr().err
    assert run(["conflicts", "db.none", "--both"]) == 11
    assert run(["conflicts", "deploy.port", "--both", "--value", "x"]) == 2


def test_sides_and_conflicts_are_named_by_number(torn: Path, capsys) -> None:
    assert run(["conflicts"]) == 0
    assert "1. deploy.port" in capsys.readouterr().out
    [preview] = answer(capsys, "conflicts", "1", "--keep", "2", "--dry-run")
    assert "superseded" in preview["diff"]
    # A wrong number settles nothing, though many ids end in this figure.
    for wrong in ("3", "0", "999"):
        assert run(["conflicts", "1", "--keep", wrong]) == 11
        assert f"No side '{wrong}'" in capsys.readouterr().err


def test_on_a_terminal_they_are_settled_by_keys(torn: Path, shown_by: Callable[..., str]) -> None:
    shown = shown_by("conflicts", keys="9q")
    assert "1/1 deploy.port" in shown
    assert "0 of 1" in shown
    assert "1 of 1" in shown_by("conflicts", keys="2")
    assert "No conflicts" in shown_by("conflicts")


def test_each_side_shows_its_own_words_alone(torn: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(["conflicts"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    quoted = [line.partition("  [")[0] for line in lines if line.startswith(">")]
    assert quoted == ["> 部署端口是 8080。", "> 部署端口是 8081。"]
    assert sum("人说的" in line for line in lines) == 2
