"""The command ``serve`` and its tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Memory.create(tmp_path / "记忆").close()
    return str(tmp_path / "记忆")


def test_a_token_is_added_shown_once_listed_and_removed(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    serve = ["serve", "--memory", root]
    assert run([*serve, "token", "list"]) == 0
    assert "No tokens" in capsys.readouterr().out
    assert run([*serve, "token", "add", "小王", "--scope", "read", "--project", "apollo"]) == 0
    secret = capsys.readouterr().out.strip()
    assert secret.startswith("kmt_")
    assert run([*serve, "token", "list"]) == 0
    listed = capsys.readouterr().out
    assert "小王  read  project apollo" in listed
    assert secret not in listed
    assert run([*serve, "--json", "token", "list"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told[0]["hash"] == ""
    assert run([*serve, "--json", "token", "add", "robot"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["token"]["scopes"] == ["read", "write"]
    assert run([*serve, "token", "remove", "小王"]) == 0
    assert "Removed" in capsys.readouterr().out
    assert run([*serve, "--json", "token", "remove", made["token"]["id"]]) == 0
    assert run([*serve, "token", "remove", "小王"]) == 11


def test_a_token_is_bound_to_a_user_and_a_session_and_may_see_what_is_shared(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add = ["serve", "--memory", root, "--json", "token", "add"]
    bound = ["--user", "lin", "--session", "build-42", "--shared"]
    assert run([*add, "lin", *bound]) == 0
    made = json.loads(capsys.readouterr().out)["token"]
    assert (made["user"], made["session"], made["shared"]) == ("lin", "build-42", True)
    assert run(["serve", "--memory", root, "token", "list"]) == 0
    assert "user lin session build-42 shared" in capsys.readouterr().out
    assert run([*add, "all", "--shared"]) == 2
    assert "--shared goes with --agent or --user" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--port", "70000"],
        ["--rate", "-1"],
        ["--max-body", "0"],
        ["--host", "0.0.0.0"],
    ],
)
def test_an_unsafe_server_is_not_started(
    root: str, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--memory", root, *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
