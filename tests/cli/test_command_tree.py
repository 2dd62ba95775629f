"""The tree of commands, seen in its manual pages: one a command, which man renders."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_memory.cli import COMMANDS

FOLDER = Path(__file__).parents[2] / "docs/man"


def test_every_command_has_its_page() -> None:
    names = {path.name for path in FOLDER.glob("*.1")}
    assert {"kimi-memory.1", *(f"kimi-memory-{name}.1" for name in COMMANDS)} <= names


def test_man_renders_every_page_without_a_warning() -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    variables = {**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    for path in sorted(FOLDER.glob("*.1")):
        argv = ["man", "--warnings", "-E", "UTF-8", "-l", str(path)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=variables)
        assert (done.returncode, done.stderr) == (0, ""), path.name
        assert path.stem.upper() in done.stdout
    argv = ["man", "-E", "UTF-8", "-l", str(FOLDER / "kimi-memory-recall.1")]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True, env=variables).stdout
    assert "--vector-weight VECTOR_WEIGHT" in shown
    assert "上个月" in shown
