"""Escapes: dozens of ways out of the sandbox, none of which may lead anywhere."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from kimi_memory import Memory
from kimi_memory.domain.agent_run import Limits, Program, RunSpec, Task
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.runs import Runs
from tests.plugins.sandbox_attempts import ATTEMPTS, HARMLESS, PRELUDE

PYTHON = "/usr/bin/python3"
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not (shutil.which("bwrap") and shutil.which("prlimit") and Path(PYTHON).exists()),
        reason="needs bubblewrap and /usr/bin/python3; 'make test-sandbox' installs them",
    ),
]


class Outside(NamedTuple):
    """Files, processes and addresses outside the sandbox that an attempt tries to reach."""

    folder: Path
    port: int
    pid: int

    def fill(self, code: str) -> str:
        values = {
            "SECRET": repr(str(self.folder / "s")), "FOLDER": repr(str(self.folder)),
            "SOCKET": repr(str(self.folder / "socket")), "PORT": str(self.port),
            "PID": str(self.pid), "RUNNER": str(os.getpid()),
        }  # fmt: skip
        for name, value in values.items():
            code = code.replace(name, value)
        return code


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    # Readable by all, so that only the sandbox keeps it from being read.
    folder = Path(tempfile.mkdtemp(prefix="kimi-outside-"))
    folder.chmod(0o755)
    (folder / "s").write_text("INNERMOST")
    other = Path(tempfile.mkdtemp(prefix="kimi-run-"))
    sleeper = subprocess.Popen(["sleep", "300"])
    libc = ctypes.CDLL(None)
    if platform.machine() == "x86_64":
        # Into a session of its own, so that nothing of it stays with the user's.
        assert libc.syscall(250, 1, None) > 0
        assert libc.syscall(248, b"user", b"kimi-outside", b"INNERMOST", 9, -3) > 0
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        port = server.getsockname()[1]
        named.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        named.listen()
        abstract.bind(f"\0kimi-sandbox-{port}")
        abstract.listen()
        yield Outside(folder, port, sleeper.pid)
        assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()
    shutil.rmtree(folder)
    shutil.rmtree(other)


@pytest.fixture
def work() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="kimi-run-"))
    yield path
    shutil.rmtree(path)


def start(runtime: str, work: Path, code: str, **more: object) -> tuple[int, str]:
    """Run Python code to its end; return its exit code and what it wrote."""
    place = Path(tempfile.mkdtemp(prefix="kimi-place-"))
    (place / "stdin").write_text("")
    limits = more.pop("limits", Limits(memory_mb=1024, output_bytes=16 << 20))
    spec = RunSpec(
        "run-x", (PYTHON, "-c", code), {"HOME": "/box", "PATH": "/usr/bin:/bin"}, work,
        place / "stdin", place / "out", place / "err", limits, **more,
    )  # type: ignore[arg-type]  # fields by name  # fmt: skip
    found = Host(entry_points=False).answer("open_runtime", name=runtime)
    started = found.start(spec)
    try:
        code_ = started.wait(30)
    finally:
        found.stop(started, 0)
    said = (place / "out").read_text() + (place / "err").read_text()
    shutil.rmtree(place)
    return code_, said


def test_there_are_fifty_attempts() -> None:
    assert len(ATTEMPTS) >= 50


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_attempt_gets_out(
    name: str, outside: Outside, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_TOKEN", "INNERMOST")
    _, said = start("sandbox", work, PRELUDE + outside.fill(ATTEMPTS[name]))
    assert "TRIED" in said and "ESCAPED" not in said, said


@pytest.mark.parametrize("name", HARMLESS)
def test_the_same_attempt_gets_out_of_a_plain_process(
    name: str, outside: Outside, work: Path
) -> None:
    if name == "read passwords" and os.geteuid():
        pytest.skip("needs root")
    _, said = start("process", work, PRELUDE + outside.fill(ATTEMPTS[name]))
    assert "ESCAPED" in said, said


def test_other_users_cannot_read_the_variables_of_an_agent(work: Path) -> None:
    """Everybody reads the arguments of a process; its variables are for its user alone."""
    code = "import os, time; open('/box/on', 'w'); print(os.environ['API_KEY']); time.sleep(20)"
    (work / "in").touch()
    spec = RunSpec(
        "run-x", (PYTHON, "-c", code), {"API_KEY": "INNERMOST"}, work, work / "in",
        work / "out", work / "err",
    )  # fmt: skip
    found = Host(entry_points=False).answer("open_runtime", name="sandbox")
    started = found.start(spec)
    try:
        while not (work / "on").exists():
            time.sleep(0.01)
        shown = read_arguments()
        ours = Path(f"/proc/{started.pid}/environ").read_bytes()
    finally:
        found.stop(started, 0)
    assert b"bwrap" in shown and b"API_KEY" in shown and b"INNERMOST" not in shown
    # Nor are they those of what builds the sandbox: LD_PRELOAD would load a library out here.
    assert ours == b"PATH=/usr/bin:/bin\0"


def read_arguments() -> bytes:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes())
    return b"".join(found)


def test_a_link_that_a_run_left_is_not_written_through(memory: Memory, tmp_path: Path) -> None:
    """An agent with a folder of its user plants a link where the next run is briefed."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.write_text("as it was")
    folder.mkdir()
    for name in ("context.md", "task.json"):
        (folder / name).symlink_to(outside)
    program = Program("next", (PYTHON, "-c", "print(open('context.md').read()[:1] != 'a')"))
    found = Runs(memory).run(Task("t", prompt="Go on."), program, folder)
    assert found.outcome == "done" and outside.read_text() == "as it was"


def test_nothing_outlives_a_sandbox(work: Path) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    while True:\n"
        "        open('/box/alive', 'w').write(str(time.time())); time.sleep(0.01)\n"
        "while not os.path.exists('/box/alive'): time.sleep(0.01)\n"
    )
    assert start("sandbox", work, code)[0] == 0
    first = (work / "alive").read_text()
    time.sleep(0.2)
    assert (work / "alive").read_text() == first


def test_what_was_granted_is_there(outside: Outside, work: Path) -> None:
    code = f"print(open({str(outside.folder / 's')!r}).read())"
    assert "INNERMOST" in start("sandbox", work, code, roots=(str(outside.folder),))[1]
    code = f"open({str(outside.folder / 'new')!r}, 'w')"
    said = start("sandbox", work, code, roots=(str(outside.folder),))[1]
    assert "Read-only file system" in said and not (outside.folder / "new").exists()
    code = PRELUDE + outside.fill(ATTEMPTS["connect to a server of this machine"])
    assert "ESCAPED" in start("sandbox", work, code, network=True)[1]


def test_a_folder_to_write_is_written(work: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="kimi-granted-"))
    folder.chmod(0o777)
    code = f"open({str(folder / '新')!r}, 'w').write('你好')"
    assert start("sandbox", work, code, roots=(f"rw:{folder}",)) == (0, "")
    assert (folder / "新").read_text(encoding="utf-8") == "你好"
    shutil.rmtree(folder)


def test_roots_that_show_too_much_are_refused(outside: Outside, work: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(outside.folder)
    (tmp_path / "memory.toml").touch()
    for root, why in (
        ("/", "holds much"), ("relative", "whole path"), (str(link), "by a link"),
        (str(tmp_path), "is a memory"), ("/no/such", "no folder"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=why):
            start("sandbox", work, "", roots=(root,))


def test_a_run_in_a_sandbox_is_kept_like_any_other(memory: Memory) -> None:
    code = "import os; print(open('/box/context.md').read()[:9], os.getuid(), os.getcwd(), '完')"
    program = Program("boxed", (PYTHON, "-c", code), runtime="sandbox", context="file")
    memory.remember("The staging server is called heron.")
    task = Task("t", prompt="What is the staging server called?")
    found = Runs(memory, {"LANG": "C.UTF-8"}).run(task, program)
    assert (found.outcome, found.runtime) == ("done", "sandbox"), found
    assert Runs(memory).read_log(found.id).endswith("1000 /box 完\n")
    slow = program._replace(command=("sleep", "60"), limits=Limits(wall_s=0.5))
    assert Runs(memory).run(task, slow).why == "time limit of 0.5 s"
