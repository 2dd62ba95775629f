"""``exec``: a grant of a memory, a node over standard streams, the audit of both."""

from __future__ import annotations

import io
import json
import shutil
import sys

import pytest

from kimi_memory import Memory
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.agent_run import AgentRun
from kimi_memory.runs.grants import read_grant
from kimi_memory.runs.run_folder import RunFolder
from kimi_memory.runs.run_records import record_run


def test_a_grant_is_made_and_served(memory: Memory, capsys, monkeypatch) -> None:
    words = ["exec", "grant", "run-1", "--elsewhere", "--methods", "exec.run"]
    words += ["--memory", str(memory.root)]
    assert run(words) == 0
    grant = capsys.readouterr().out.replace("\n", "")
    asked = [
        {"jsonrpc": "2.0", "id": "1", "method": method, "params": {"grant": grant, **params}}
        for method, params in (("fs.list", {"path": "."}), ("exec.run", {"argv": ["echo", "你好"]}))
    ]
    asked[1]["id"] = "2"
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(map(json.dumps, asked)) + "\n"))
    assert run(["exec", "serve"]) == 0
    refused, done = map(json.loads, capsys.readouterr().out.splitlines())
    assert refused["error"]["code"] == -32004
    if shutil.which("bwrap"):
        assert done["result"]["stdout"] == "你好\n"
    else:
        assert done["error"]["code"] == -32006
    assert run(["exec", "check"]) == 0
    assert "whole" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--methods", "exec.shell"], "is no method"), (["--minutes", "0"], "above zero")],
)
def test_a_grant_of_nothing_is_refused(memory: Memory, capsys, words: list[str], said: str) -> None:
    assert run(["exec", "grant", "run-1", *words, "--memory", str(memory.root)]) == 2
    assert said in capsys.readouterr().err


def test_a_grant_is_for_a_run_that_lives(memory: Memory, capsys) -> None:
    id, place = memory.settings.memory.id, ["--memory", str(memory.root)]
    assert run(["exec", "grant", "x", *place]) == 11
    assert "No run 'x'" in capsys.readouterr().err
    assert run(["exec", "grant", "x", "--elsewhere", *place]) == 2
    assert "no id of a run" in capsys.readouterr().err
    record_run(memory, AgentRun("run-01ended", id, "t", status="stopped", outcome="done"))
    assert run(["exec", "grant", "run-01ended", *place]) == 2
    assert "has ended (done)" in capsys.readouterr().err
    lives = AgentRun("run-01lives", id, "t", status="busy")
    RunFolder.create(Home.of_user().state, lives, memory.root)
    assert run(["exec", "grant", "01lives", "--json", *place]) == 0
    text = json.loads(capsys.readouterr().out)["grant"]
    assert read_grant(text, Home.of_user().key()).run == "run-01lives"
