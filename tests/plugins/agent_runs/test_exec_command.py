"""``exec``: a grant of a memory, a node over standard streams, the audit of both."""

from __future__ import annotations

import io
import json
import shutil
import sys

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run


def test_a_grant_is_made_and_served(memory: Memory, capsys, monkeypatch) -> None:
    words = ["exec", "grant", "run-1", "--methods", "exec.run", "--memory", str(memory.root)]
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
