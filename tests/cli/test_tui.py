"""``tui``: where it opens, and where it says what to use instead."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.conftest import Screen


def test_without_a_terminal_the_plain_commands_are_named(
    folder: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    assert run(["tui"]) == 2
    assert "kimi-memory list" in capsys.readouterr().err
    monkeypatch.setenv("TERM", "dumb")
    with screen.taken():
        assert run(["tui"]) == 2


def test_without_its_library_the_remedy_is_named(
    folder: Path, screen: Screen, tmp_path: Path
) -> None:
    (tmp_path / "textual.py").write_text("raise ModuleNotFoundError(name='textual')\n")
    code = "import sys; from kimi_memory.cli import run; sys.exit(run(['tui']))"
    shown = subprocess.run(
        [sys.executable, "-c", code], stdin=screen.end, stdout=screen.end, stderr=subprocess.PIPE,
        text=True, check=False, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert shown.returncode == 2
    assert "pip install 'kimi-memory[tui]'" in shown.stderr


def test_in_a_real_terminal_it_opens_and_leaves(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="needs the library of kimi-memory[tui]")
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    run(["remember", "部署端口是 8080。", "--key", "deploy.port"])
    tmux = ["tmux", "-L", f"kimi-{os.getpid()}", "-f", "/dev/null"]
    program = f"{sys.executable} -m kimi_memory tui --memory {folder}; echo left; sleep 30"
    session = ["new-session", "-d", "-x", "90", "-y", "24", f"LC_ALL=zh_CN.UTF-8 {program}"]
    variables = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    subprocess.run([*tmux, *session], check=True, env=variables)
    try:
        shown = wait_for(tmux, "部署端口是 8080。")
        assert "1 认定" in shown
        subprocess.run([*tmux, "send-keys", "q"], check=True)
        assert "认定" not in wait_for(tmux, "left")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def wait_for(tmux: list[str], word: str) -> str:
    """Return what stands on the terminal once a word does."""
    deadline, shown = time.monotonic() + 60, ""
    while word not in shown:
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
        done = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, check=True)
        shown = done.stdout.decode()
    return shown
