"""``completion``: in the real shells, where they are there."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from kimi_memory.cli import COMMANDS, run

ASKED = [
    ("kimi-memory reca", {"recall"}),
    ("kmem session st", {"start", "state"}),
    ("kimi-memory search --fus", {"--fusion"}),
    ("kimi-memory recall --fusion ", {"score", "70/30", "rrf"}),
    ("kimi-memory serve token re", {"remove"}),
    ("kimi-memory consolidate wee", {"weekly"}),
]


def need(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def script(shell: str, tmp_path: Path, capsys) -> Path:
    assert run(["completion", shell]) == 0
    path = tmp_path / f"complete.{shell}"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def asked(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=30).stdout


def test_bash_completes_commands_steps_options_and_values(tmp_path: Path, capsys) -> None:
    need("bash")
    path = script("bash", tmp_path, capsys)
    for line, wanted in ASKED:
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        code = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _kimi_memory; "
        found = asked(["bash", "-c", f"source {path}; {code} printf '%s\\n' \"${{COMPREPLY[@]}}\""])
        assert set(found.split()) == wanted, line
    code = f"COMP_WORDS=(kimi-memory --memory {tmp_path}/comp); COMP_CWORD=2; _kimi_memory; "
    found = asked(["bash", "-c", f"source {path}; {code} printf '%s\\n' \"${{COMPREPLY[@]}}\""])
    assert found.split() == [str(path)]
    code = "COMP_WORDS=(kimi-memory ''); COMP_CWORD=1; _kimi_memory; "
    found = asked(["bash", "-c", f"source {path}; {code} printf '%s\\n' \"${{COMPREPLY[@]}}\""])
    assert set(COMMANDS) <= set(found.split())


def test_fish_completes_commands_steps_options_and_values(tmp_path: Path, capsys) -> None:
    need("fish")
    path = script("fish", tmp_path, capsys)
    for line, wanted in ASKED:
        found = asked(["fish", "-N", "-c", f"source {path}; complete -C '{line}'"])
        assert {one.split("\t")[0] for one in found.splitlines()} == wanted, line


def test_zsh_completes_commands_steps_options_and_values(tmp_path: Path, capsys) -> None:
    need("zsh")
    path = script("zsh", tmp_path, capsys)
    for line, wanted in ASKED[1:]:
        shown = typed_in_zsh(path, line, sorted(wanted)[0])
        for word in wanted:
            assert word in shown, line


def typed_in_zsh(path: Path, line: str, end: str) -> str:
    """Return what stands on a terminal on which a line and two tabs were typed."""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover  the child
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "PS1": "$ "})
    try:
        os.write(
            terminal, f"autoload -Uz compinit; compinit -u -D; . {path}; echo re''ady\n".encode()
        )
        assert "ready" in read_until(terminal, "ready")
        os.write(terminal, f"{line}\t\t".encode())
        return read_until(terminal, end)
    finally:
        os.close(terminal)
        os.kill(process, 9)
        os.waitpid(process, 0)


def read_until(terminal: int, end: str) -> str:
    """Return what is shown, until a word stands there and no more comes, or a minute long."""
    shown, deadline = "", time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
        elif end in shown:
            return shown
    return shown
