"""Every command that writes, killed at any moment: what it acknowledged is there."""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening, cli
from kimi_memory.domain.health import Severity
from kimi_memory.operations.doctor import verify
from kimi_memory.store.notes import sessions
from tests.hostile.conftest import Told

pytestmark = pytest.mark.hostile
KILLS = 300
CHECKED = 25
"""So many kills from one whole check of the memory to the next."""
ACKNOWLEDGED = (0, 0, 1, 2, 4, 8)
"""After so many commands that were acknowledged a process is killed: most die early, some late."""


def rounds(chance: random.Random, n: int) -> Iterator[tuple[str, list[str]]]:
    """Yield commands in a random order, each with the text that is there once it returned."""
    said = f"Round {n}: berth {n} of the harbour is free until {n % 12 + 1} o'clock."
    told = f"我们决定 {n} 号泊位用 PostgreSQL{n}，因为并发写入更快。"
    session = f"s{n % 7}-{n // 40}"
    commands = [
        (said, ["session", "turn", session, said]),
        (told, ["session", "turn", session, told, "--role", "assistant"]),
        (f"The port of berth {n} is {8000 + n}.", ["remember"]),
        ("", ["session", "end", f"s{(n + 3) % 7}-{n // 40}"]),
        ("", ["session", "state", session, "--task", f'{{"goal": "round {n}"}}']),
        ("", ["consolidate", "daily"]),
        ("", ["consolidate", "weekly"]),
        ("", ["consolidate", "introspect"]),
        ("", ["distill"]),
        ("", ["index"]),
        ("", ["index", "--full"]),
        ("", ["recall", f"berth {n}"]),
        ("", ["status"]),
        ("", ["forget", f"--query=port of berth {max(0, n - 9)} ", "--yes"]),
    ]
    chance.shuffle(commands)
    for text, words in commands:
        yield text, [*words, text] if words == ["remember"] else words


def quietly(root: Path, words: list[str]) -> int:
    """Run a command and return its exit code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return cli.run([*words, "--memory", str(root)])


def pace(root: Path) -> float:
    """Return how many seconds a command takes here; what commands import is there afterwards."""
    Memory.create(root).close()
    seconds = 0.0
    for _ in range(2):
        began, count = time.monotonic(), 0
        for _, words in rounds(random.Random(0), 0):
            quietly(root, words)
            count += 1
        seconds = (time.monotonic() - began) / count
    return seconds


def work(root: Path, seed: int, n: int, pipe: int) -> None:
    """Run commands until somebody kills us; acknowledge each that returned well."""
    for text, words in rounds(random.Random(seed), n):
        code = quietly(root, words)
        os.write(pipe, f"{code}\0{' '.join(words[:2])}\0{text}\n".encode())


def killed(root: Path, seed: int, n: int, least: int, after: float) -> list[tuple[int, str, str]]:
    """Run commands in a process that is killed; return what it acknowledged.

    It is killed some seconds after so many commands were acknowledged: on a machine that has
    much else to do as many return as on an idle one.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        with contextlib.suppress(BaseException):
            work(root, seed, n, writing)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        lines = [line for _ in range(least) if (line := pipe.readline())]
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
        lines += pipe.readlines()
    os.waitpid(pid, 0)
    found = (line.rstrip("\n").split("\0") for line in lines)
    return [(int(code), command, text) for code, command, text in found]


def stored(root: Path) -> set[str]:
    with Memory.open(root, Opening(background=False)) as memory:
        places = list(sessions.places(memory.store))
        return {t.text for p in places for t in sessions.read(memory.store, p.path).turns}


def test_a_slow_machine_acknowledges_as_much(swift: Path) -> None:
    Memory.create(swift / "memory").close()
    assert len(killed(swift / "memory", 1, 1, least=3, after=0.0)) >= 3


@pytest.mark.timeout(3600)
def test_what_was_acknowledged_is_there_after_every_kill(swift: Path, tell: Told) -> None:
    root, chance = swift / "memory", random.Random(300)
    Memory.create(root).close()
    each = pace(swift / "tried")
    said: set[str] = set()
    run: set[str] = set()
    held = 0
    for n in range(1, KILLS + 1):
        done = killed(root, n, n, chance.choice(ACKNOWLEDGED), chance.uniform(0, 2 * each))
        said |= {text for code, _, text in done if code == 0 and text}
        run |= {command for code, command, _ in done if code == 0}
        assert not (lost := said - stored(root)), f"kill {n} lost {lost}"
        held += 1
        if n % CHECKED == 0:
            with Memory.open(root, Opening(background=False)) as memory:
                found = [one for one in verify(memory) if one.severity is Severity.ERROR]
            assert found == [], f"after kill {n}"
    tell(KILLS, held)
    assert len(said) >= KILLS // 10
    assert {
        "session turn",
        "session end",
        "consolidate daily",
        "index",
        "consolidate introspect",
    } <= run, run
