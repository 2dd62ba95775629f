"""``place``: over a real log, what it says and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory.cli import run


@pytest.fixture
def joined(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    url = f"folder://{tmp_path}/log"
    assert run(["node", "join", "--url", url, "--name", "edge-1", "--region", "us"]) == 0


def test_a_task_is_placed_and_explained(joined: None, capsys) -> None:
    words = ["--needs", "sandbox,python", "--cpu", "8", "--permissions", "network"]
    assert run(["place", "--offer", *words]) == 0
    assert run(["place", "--latency", "rack-2=83"]) == 0
    capsys.readouterr()
    assert run(["place", "--task", "interactive", "--needs", "python", "--cpu", "2"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("hybrid  edge-1  score ")
    assert said[1] == "  because interactive; no pair of machines was measured"
    assert run(["place", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["mode"], found["execution"], found["refused"]) == ("hybrid", "edge-1", [])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--needs", "docker"], 45, "edge-1: cannot carry it out: offers no docker"),
        (["--permissions", "root"], 2, "'root' is no permission"),
        (["--latency", "rack-2"], 2, "Write NODE=MS"),
        (["--offer", "--load", "101"], 2, "from 0 to 100"),
        (["--offer", "--endpoint", "rack"], 2, "no endpoint"),
        (["--measure", "edge-1"], 2, "Nobody said how ssh reaches edge-1"),
    ],
)
def test_what_cannot_be_placed_says_why(
    joined: None, capsys, words: list[str], code: int, said: str
) -> None:
    assert run(["place", *words]) == code
    assert said in capsys.readouterr().err


def test_a_machine_in_maintenance_takes_nothing(joined: None, capsys) -> None:
    assert run(["place", "--offer", "--status", "maintenance"]) == 0
    assert run(["place"]) == 45
    assert "in maintenance" in capsys.readouterr().err
