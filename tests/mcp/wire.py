"""Clients of MCP servers that know nothing but the protocol."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def ours(root: Path, *words: str) -> list[str]:
    """The command that serves a memory."""
    return [sys.executable, "-m", "kimi_memory", "mcp", "--memory", str(root), *words]


def user(home: Path) -> dict[str, str]:
    """The environment of a user with that home, and the library under test."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }


@contextmanager
def over_http(root: Path, *words: str) -> Iterator[str]:
    """Serve a memory over HTTP on loopback; gives the address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    argv = ours(root, "--http", "--port", str(port), *words)
    with subprocess.Popen(argv, env=user(root.parent), stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            while not _answers(port):
                assert process.poll() is None and time.monotonic() < deadline, "it does not serve"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


class Wire:
    """One server over pipes and the requests that were sent to it."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], log: IO[str] | int = subprocess.DEVNULL
    ) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            argv, env=env, stdin=pipe, stdout=pipe, stderr=log, text=True
        )
        self._sent = 0

    def __enter__(self) -> Self:
        self.hello = self.ask("initialize", HELLO)
        self._say({"method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return its result."""
        self._sent += 1
        self._say({"id": self._sent, "method": method, "params": params or {}})
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._sent:
                assert "error" not in message, message["error"]
                return dict(message["result"])
        raise AssertionError("the server went away")

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        """Call a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": given})

    def _say(self, message: Mapping[str, Any]) -> None:
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()
