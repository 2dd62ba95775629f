"""Answers of commands, as programs get them."""

from __future__ import annotations

import json

from kimi_memory.cli import run


def answer(capsys, *words: str) -> object:
    """Run a command with --json and return what it printed."""
    assert run([words[0], "--json", *words[1:]]) == 0
    return json.loads(capsys.readouterr().out)
