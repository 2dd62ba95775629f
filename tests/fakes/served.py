"""A real HTTP server of a memory, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from kimi_memory.api.options import Home


@dataclass
class Served:
    """A memory and the process that serves it."""

    root: Path
    home: Path
    url: str = ""
    process: subprocess.Popen[str] | None = None

    def client(self, token: str = "", **options: object) -> httpx.Client:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    def token(self, name: str, *options: str) -> str:
        return run(self.home, self.root, "token", "add", name, *options).strip()

    @property
    def directories(self) -> Home:
        """The user's own directories as the server sees them."""
        state = self.home / ".local" / "state" / "kimi_memory"
        return Home(self.home / ".config" / "kimi_memory", state)

    def kill(self) -> None:
        """End it without any warning."""
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)


def environment(home: Path) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    kept = ("PATH", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
    return {"HOME": str(home), **{name: os.environ[name] for name in kept if name in os.environ}}


def argv(root: Path, *words: str, command: str = "serve") -> list[str]:
    return [sys.executable, "-m", "kimi_memory", command, "--memory", str(root), *words]


def run(home: Path, root: Path, *words: str) -> str:
    done = subprocess.run(
        argv(root, *words), env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(logs: Path) -> Iterator[Callable[..., Served]]:
    """Give what starts servers; they end with the context, and none of them may have failed."""
    processes: list[subprocess.Popen[str]] = []
    log = logs / "stderr"

    def start(root: Path, home: Path, *options: str, command: str = "serve") -> Served:
        free = ("--rate", "0") if command == "serve" else ()
        with log.open("a") as errors:
            process = subprocess.Popen(
                argv(root, "--port", "0", *free, *options, command=command),
                env=environment(home),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        processes.append(process)
        assert process.stdout
        line = process.stdout.readline()
        assert line.startswith("http://"), log.read_text()
        return Served(root, home, line.split()[0], process)

    yield start
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert "Traceback" not in log.read_text(), log.read_text()
