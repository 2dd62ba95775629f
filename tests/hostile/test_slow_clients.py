"""Clients that begin a request and never end it, more than a server may hold."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fakes.served import Served, serving

from kimi_memory import Memory
from tests.hostile.conftest import Told

pytestmark = pytest.mark.hostile
MANY = 1150
PATIENCE = 60.0
HALVES = (
    b"GET /v1/status HTTP/1.1\r\nhost: x\r\n",
    b"G",
    b"POST /v1/remember HTTP/1.1\r\ncontent-le",
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Memory.create(tmp_path / "memory") as memory:
        memory.session("s1").turn("user", "Berths are free.")
    with serving(tmp_path) as start:
        yield start(tmp_path / "memory", tmp_path / "home")


def test_half_sent_requests_lock_nobody_out(served: Served, tell: Told) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most[1] != resource.RLIM_INFINITY and most[1] < 2 * MANY:
        pytest.skip(f"this machine lets a process open {most[1]} files, {2 * MANY} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(most[0], 2 * MANY), most[1]))
    token, address = served.token("reader"), urlsplit(served.url)
    lines: list[socket.socket] = []
    try:
        for number in range(MANY):
            line = socket.create_connection((address.hostname, address.port), timeout=30)
            lines.append(line)
            try:
                line.sendall(HALVES[number % len(HALVES)])
            except OSError:
                continue  # One too many: it was turned away before it had said anything.
        answered, deadline = 0, time.monotonic() + PATIENCE
        while not answered and time.monotonic() < deadline:
            with served.client(token) as client:
                answered = client.get("/v1/status").status_code == 200
        assert answered
        with served.client(token) as client:
            for _ in range(5):
                assert client.get("/v1/status").status_code == 200
    finally:
        for line in lines:
            line.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    tell(MANY, MANY)
