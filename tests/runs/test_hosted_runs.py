"""A run for another machine, over a plain pipe: it ends with the line, and takes no other file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory.domain.agent_run import Limits, RunSpec
from kimi_memory.runs.hosted_runs import pack_run

PYTHON = "/usr/bin/python3"
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and Path(PYTHON).exists()), reason="needs bubblewrap"
    ),
]


def start() -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "kimi_memory", "exec", "host"]
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)


def make_line(tmp_path: Path, code: str, wall_s: float = 60.0) -> bytes:
    work = tmp_path / "work"
    work.mkdir()
    (work / "context.md").write_text("海燕", encoding="utf-8")
    for name in ("in", "out", "err"):
        (tmp_path / name).write_text("go\n")
    return pack_run(
        RunSpec("run-1", (PYTHON, "-c", code), {"HOME": "/box", "LANG": "C.UTF-8"}, work,
                tmp_path / "in", tmp_path / "out", tmp_path / "err", Limits(wall_s=wall_s))
    )  # fmt: skip


@pytest.mark.parametrize("how", ["gone", "late"])
def test_an_agent_ends_with_its_line_and_with_its_time(tmp_path: Path, how: str) -> None:
    code = "import time; print(open('context.md').read(), input(), flush=True); time.sleep(300)"
    with start() as host:
        assert host.stdin is not None and host.stdout is not None
        host.stdin.write(make_line(tmp_path, code, 1.0 if how == "late" else 60.0))
        host.stdin.flush()
        if how == "gone":
            assert host.stdout.readline().decode() == "海燕 go\n"
            host.stdin.close()
        assert host.wait(60) in (137, 143)


@pytest.mark.parametrize("spoil", ["junk", "outside", "no argv"])
def test_what_is_no_run_is_refused(tmp_path: Path, spoil: str) -> None:
    line = make_line(tmp_path, "")
    value = json.loads(line)
    if spoil == "outside":
        value["files"] = {"../escaped": "x"}
    elif spoil == "no argv":
        del value["argv"]
    line = b"{\n" if spoil == "junk" else json.dumps(value).encode() + b"\n"
    with start() as host:
        _, said = host.communicate(line, 60)
        assert host.returncode == 2 and b"That is no run" in said
