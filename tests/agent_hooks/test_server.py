"""The server of one memory."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.agent_hooks import socket_protocol, spool
from kimi_memory.store.notes import sessions

ASKED = {
    "host": "claude",
    "moment": "prompt",
    "payload": {
        "session_id": "s9",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Which port is staging on?",
    },
}


@pytest.fixture
def root(tmp_path: Path, opening: Opening) -> Path:
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        memory.remember("The staging database listens on port 6543.")
    return tmp_path / "m"


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}


def start(root: Path, user: dict[str, str], idle: float = 60) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "kimi_memory", "hook", "serve", "--idle", str(idle)]
    return subprocess.Popen([*argv, "--memory", str(root)], env=user, stderr=subprocess.PIPE)


def pid_of(root: Path) -> int:
    """The process that answers, once one does."""
    deadline = time.monotonic() + 60
    while (found := socket_protocol.ask(str(root), {"ping": True})) is None:
        assert time.monotonic() < deadline, "no server came up"
        time.sleep(0.05)
    return int(found["pid"])


@pytest.fixture
def server(root: Path, user: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = start(root, user)
    assert pid_of(root) == process.pid
    yield process
    process.kill()
    process.communicate()


def test_it_answers_as_the_hook_itself_would(root: Path, server: object) -> None:
    found = socket_protocol.ask(str(root), ASKED)
    assert found is not None
    inner = json.loads(found["out"])["hookSpecificOutput"]
    assert "6543" in inner["additionalContext"]


def test_nobody_else_may_ask(root: Path, server: object) -> None:
    assert (root / socket_protocol.NAME).stat().st_mode & 0o077 == 0


def test_a_broken_request_is_told_and_the_next_one_answered(root: Path, server: object) -> None:
    assert "error" in (socket_protocol.ask(str(root), {"moment": "prompt"}) or {})
    assert "out" in (socket_protocol.ask(str(root), ASKED) or {})


def test_many_ask_at_once(root: Path, server: object) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: socket_protocol.ask(str(root), ASKED), range(40)))
    assert all(one and "6543" in one["out"] for one in found)


def test_a_second_server_leaves_the_memory_to_the_first(
    root: Path, user: dict[str, str], server: subprocess.Popen[bytes]
) -> None:
    second = start(root, user)
    _, told = second.communicate(timeout=60)
    assert (second.returncode, b"another server" in told) == (0, True)
    assert pid_of(root) == server.pid


def test_it_goes_when_nobody_asks(root: Path, user: dict[str, str]) -> None:
    process = start(root, user, idle=0.5)
    assert process.wait(timeout=60) == 0
    process.communicate()
    assert not (root / socket_protocol.NAME).exists()


def test_one_that_was_killed_is_replaced(
    root: Path, user: dict[str, str], server: subprocess.Popen[bytes]
) -> None:
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    assert socket_protocol.ask(str(root), {"ping": True}) is None
    second = start(root, user)
    assert pid_of(root) == second.pid
    second.kill()
    second.communicate()


def test_it_goes_with_the_memory(
    root: Path, server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    root.rename(tmp_path / "moved")
    assert server.wait(timeout=60) == 0


def an_end(root: Path) -> dict[str, object]:
    """The end of a session whose transcript has one line."""
    path = root.parent / "s1.jsonl"
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": "2026-02-27T09:00:00Z",
        "message": {"role": "user", "content": "把部署改到周五。"},
    }
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    payload = {"session_id": "s1", "transcript_path": str(path)}
    return {"host": "claude", "moment": "end", "payload": payload}


def test_transcripts_are_taken_in_behind_the_answer(root: Path, server: object) -> None:
    spool.put(str(root), an_end(root))
    assert socket_protocol.ask(str(root), {"news": True}) == {"out": ""}
    deadline = time.monotonic() + 60
    while True:
        with Memory.open(root) as memory:
            found = [p for p in sessions.places(memory.store) if p.root == "s1" and not p.open]
        if found:
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_event_that_was_answered_outlives_a_kill(
    root: Path, server: subprocess.Popen[bytes]
) -> None:
    with Memory.open(root) as memory, memory.store.lock("store"):
        spool.put(str(root), an_end(root))
        assert socket_protocol.ask(str(root), {"news": True}) == {"out": ""}
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    ((_, left),) = spool.take_events(str(root))
    assert left["payload"]["session_id"] == "s1"


def running(root: Path) -> list[int]:
    """Every process that works on a memory."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it may end at any moment
            if process.name.isdigit() and os.fsencode(root) in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


@pytest.mark.parametrize(
    "starts",
    [8, pytest.param(1000, marks=[pytest.mark.faults, pytest.mark.timeout(5400)])],
)
def test_never_is_more_than_one_process_left_behind(
    root: Path, user: dict[str, str], starts: int
) -> None:
    chance = random.Random(7)
    argv = [sys.executable, "-m", "kimi_memory", "hook", "run", "--host", "claude"]
    given = json.dumps(ASKED["payload"]).encode()
    for _ in range(0, starts, 4):
        hooks = [
            subprocess.Popen(
                [*argv, "--memory", str(root)],
                env=user,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(4)
        ]
        for hook in hooks[:3]:
            hook.communicate(given)
        for victim in chance.sample(alive, 1) if (alive := running(root)) else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        hooks[3].communicate(given)
        deadline = time.monotonic() + 60
        while len(left := running(root)) > 1:
            assert time.monotonic() < deadline, f"{len(left)} processes are left"
            time.sleep(0.05)
    deadline = time.monotonic() + 60
    while running(root):
        (root / socket_protocol.NAME).unlink(missing_ok=True)
        assert time.monotonic() < deadline, "the last server stays without its socket"
        time.sleep(0.05)
