"""Names of versions, and the list of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import HistoryError, UsageError
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.forget import purge
from kimi_memory.past.naming import add_name, list_versions, remove_name


def test_a_name_stands_until_it_is_removed(memory: Memory) -> None:
    job = memory.remember("The sign is blue.", key="sign.colour").id
    memory.remember("The lamp is red.", key="lamp.colour")
    point = add_name(memory.history, memory.points, "before-the-lamp", job)
    assert memory.points.find("before-the-lamp").commit == point.commit
    shown = list_versions(memory.history, memory.points)
    assert [(one.names, one.kind) for one in shown] == [
        (("before-the-lamp",), "remember"), ((), "init"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="--remove before-the-lamp"):
        add_name(memory.history, memory.points, "before-the-lamp")
    remove_name(memory.history, "before-the-lamp")
    with pytest.raises(UsageError, match="No version is named"):
        remove_name(memory.history, "before-the-lamp")
    every = list_versions(memory.history, memory.points, every=True, limit=2)
    head = memory.points.find("HEAD").version
    assert [one.version for one in every] == [head, head - 1]


@pytest.mark.parametrize(
    "taken", ["HEAD", "v1", "v99", "today", "2026-02-27", "1999-01-01", "2099"]
)
def test_a_name_that_means_a_point_already_is_refused(memory: Memory, taken: str) -> None:
    with pytest.raises(UsageError, match="means a point already"):
        add_name(memory.history, memory.points, taken)


@pytest.mark.parametrize("bad", ["two words", "a..b", "x~1", "a/b", "", "-", "x.lock", "版" * 90])
def test_a_name_that_git_cannot_keep_is_refused(memory: Memory, bad: str) -> None:
    with pytest.raises(HistoryError, match="cannot be a name"):
        add_name(memory.history, memory.points, bad)


def test_a_name_that_holds_a_secret_is_refused(tmp_path: Path, capsys) -> None:
    folder, token = str(tmp_path / "memory"), "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    assert run(["init", folder]) == 0
    assert run(["name", token, "--memory", folder]) == 2
    told = capsys.readouterr().err
    assert "The name holds a secret" in told
    assert token not in told


def test_a_name_survives_a_purge(memory: Memory) -> None:
    memory.remember("The secret is Abernathy.", key="secret.word")
    add_name(memory.history, memory.points, "then")
    before = memory.points.find("then")
    purge(memory, Doomed(texts=("Abernathy",)), yes=True)
    after = memory.points.find("then")
    assert after.commit != before.commit
    assert (after.version, after.known) == (before.version, before.known)


def test_commands_name_list_and_compare(tmp_path: Path, capsys) -> None:
    folder = str(tmp_path / "memory")
    at = ["--memory", folder]
    assert run(["init", folder]) == 0
    assert run(["remember", "The port is 8080.", "--key", "deploy.port", *at]) == 0
    assert run(["name", "first-port", *at]) == 0
    assert "first-port is v3" in capsys.readouterr().out
    assert run(["remember", "The port is 8443.", "--key", "deploy.port", *at]) == 0
    assert run(["versions", *at]) == 0
    assert "first-port  remember-" in capsys.readouterr().out
    assert run(["versions", "--all", "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)[0]["version"] > 3
    assert run(["diff", "first-port", "v3", *at]) == 0
    assert run(["diff", "first-port", "HEAD", "--path", "semantic", *at]) == 0
    assert "8443" in capsys.readouterr().out
    assert run(["name", "first-port", "--remove", *at]) == 0
    assert run(["diff", "first-port", *at]) == 2
    assert run(["versions", "--limit", "-1", *at]) == 2
