"""``agent``: what is printed, what JSON says, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host

GREET = f"{sys.executable} -c \"print('你好 hello')\""


def test_hook_open_runtime_knows_processes() -> None:
    host = Host(entry_points=False)
    assert host.answer("open_runtime", name="process").isolation == "none"
    assert host.answer("open_runtime", name="vm") is None


def test_an_agent_is_run_listed_shown_and_its_log_read(memory: Memory, capsys) -> None:
    place = ["--memory", str(memory.root)]
    assert run(["agent", "run", "greeter", "Say hello.", "--command", GREET, *place]) == 0
    assert capsys.readouterr().out.startswith("你好 hello\n\nrun-")
    assert run(["agent", "list", "--json", *place]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["agent"]) == ("done", "greeter")
    assert run(["agent", "show", found["id"], *place]) == 0
    assert "greeter" in capsys.readouterr().out
    assert run(["agent", "logs", found["id"], *place]) == 0
    assert capsys.readouterr().out == "你好 hello\n"
    capsys.readouterr()
    assert run(["agent", "stop", found["id"], "--dry-run", *place]) == 0
    assert capsys.readouterr().out == f"{found['id']} has ended.\n"
    assert run(["agent", "stop", found["id"], *place]) == 0


def test_a_dry_run_says_what_would_start_and_starts_nothing(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--memory", str(memory.root)]
    words = ["agent", "run", "茶馆", "Say hello.", "--command", GREET, *place, "--ref", "t-1"]
    assert run([*words, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Would start 茶馆 (process, 300 s at most): ")
    assert "this machine alone has the memory" in said
    assert run([*words, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["ref"] == "t-1"
    assert run(["agent", "list", *place]) == 0
    assert capsys.readouterr().out.startswith("No runs.")
    assert run(words) == 0
    capsys.readouterr()
    assert run([*words, "--dry-run"]) == 0
    assert "did t-1 already; nothing would start." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--runtime", "vm"], "There is no runtime 'vm'"),
        (["--security", "high"], "High security needs a sandbox"),
        (["--expected", "5400"], "expected to take 5400 s"),
        (["--folder", "/nowhere/at-all"], "is no folder"),
        (["--command", "kein-programm --now"], "There is no program kein-programm"),
    ],
)
def test_a_dry_run_refuses_what_would_be_refused(
    memory: Memory, capsys: pytest.CaptureFixture[str], more: list[str], why: str
) -> None:
    words = ["agent", "run", "greeter", "Hello.", "--command", GREET, *more, "--dry-run"]
    assert run([*words, "--memory", str(memory.root)]) == UsageError.exit_code
    said = capsys.readouterr().err
    assert why in said and said.count("\n") == 1


def test_an_identity_is_only_said_by_a_dry_run_and_written_whole_or_not(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--memory", str(memory.root)]
    before = {path: memory.store.read(path) for path in ("memory.toml", "long-term/IDENTITY.md")}
    words = ["agent", "identity", "--name", "茶馆", "--persona", "tone=friendly", *place]
    assert run([*words, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("It would be:\n茶馆\n") and "friendly" in said
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    assert run([*words, "--persona", f"role={secret}"]) == UsageError.exit_code
    assert {path: memory.store.read(path) for path in before} == before


def test_an_identity_is_changed_and_shown(memory: Memory, capsys) -> None:
    place = ["--memory", str(memory.root)]
    words = ["--description", "Support", "--persona", "tone=friendly", "--skills", "sql, python"]
    assert run(["agent", "identity", *words, "--json", *place]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["description"], found["persona"]["tone"]) == ("Support", "friendly")
    assert found["default_skills"] == ["sql", "python"]


def test_an_identity_names_the_space_of_its_memory(
    memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    place = ["--memory", str(memory.root)]
    assert run(["space", "create", "茶馆", "--folder", str(tmp_path / "space")]) == 0
    assert run(["space", "share", "--name", "tea", *place]) == 0
    capsys.readouterr()
    assert run(["agent", "identity", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["space"] == "茶馆"
    assert run(["agent", "identity", *place]) == 0
    assert "茶馆" in capsys.readouterr().out


@pytest.fixture
def config(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    config = tmp_path / "config" / "kimi_memory" / "config.toml"
    config.parent.mkdir(parents=True)
    return config


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody", "x"], "has no [agents.nobody]. It has broken."),
        (["broken", "x"], "config.toml:3: [agents.broken] wall_s is 'long'. Give a number"),
        (["a", "x", "--command", "python3 'x"], "Close the quotes"),
        (["a", "x", "--command", "true", "--seconds", "0"], "--seconds is not above zero"),
        (["a", " ", "--command", "true"], "Give a prompt"),
        (["a", "x", "--command", "true", "--folder", "/no/such"], "is no folder"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(
    memory: Memory, capsys, config: Path, words: list[str], said: str
) -> None:
    config.write_text('[agents.broken]\ncommand = "true"\nwall_s = "long"\n')
    assert run(["agent", "run", *words, "--memory", str(memory.root)]) in (2, 20)
    assert said in capsys.readouterr().err
