"""The running server: it starts safely, ends in order, and loses nothing when it is killed."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import uvicorn
from fakes.served import Served

from kimi_memory import Memory
from kimi_memory.api.options import Home
from kimi_memory.errors import UsageError
from kimi_memory.server.auth import Names
from kimi_memory.server.rate_limit import Lines
from kimi_memory.server.server import Serving, bounded_protocol
from kimi_memory.web.serving import serve


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Memory.create(tmp_path / "记忆").close()
    return tmp_path / "记忆"


def test_nothing_acknowledged_is_lost_by_a_kill(
    serving: Callable[..., Served], root: Path, tmp_path: Path
) -> None:
    server = serving(root, tmp_path / "home")
    acknowledged: list[str] = []
    enough = threading.Event()

    def write(worker: int) -> None:
        with server.client() as client:
            for n in range(10_000):
                text = f"第{worker}条线 record {worker}-{n}"
                try:
                    answer = client.post("/append", json={"content": text})
                except httpx.HTTPError:
                    return
                assert answer.json()["stored"]
                acknowledged.append(text)
                if len(acknowledged) > 40:
                    enough.set()

    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(write, worker) for worker in range(4)]
        assert enough.wait(120)
        server.kill()
    assert [one.exception() for one in done] == [None] * 4
    again = serving(root, tmp_path / "home")
    with again.client() as client:
        kept = client.get("/get", params={"path": f"{_today(client)}"}).json()["text"]
        assert set(acknowledged) <= set(kept.split("\n\n"))
        worker = acknowledged[-1]
        found = client.post("/search", json={"query": f'"{worker}"', "limit": 5}).json()
        assert worker in found["results"][0]["snippet"]


def _today(client: httpx.Client) -> str:
    return str(client.post("/append", json={"content": "the end"}).json()["path"])


def test_asked_to_end_it_answers_what_it_took_in_and_lets_streams_go(
    serving: Callable[..., Served], root: Path, tmp_path: Path
) -> None:
    server = serving(root, tmp_path / "home")
    assert server.process
    with server.client() as client, client.stream("GET", "/v1/events") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")
        assert client.post("/append", json={"content": "the last words"}).json()["stored"]
        server.process.send_signal(signal.SIGTERM)
        assert "the last words" not in list(lines)
    server.process.communicate(timeout=60)
    assert server.process.returncode == 0
    with Memory.open(root) as memory:
        assert "the last words" in memory.recall("last words").hits[0].snippet
        assert not memory.batch.pending()


def test_what_can_be_reached_from_outside_needs_a_token(root: Path, home: Home) -> None:
    serving = Serving(root=root, home=home, names=Names(bound="0.0.0.0"))
    with pytest.raises(UsageError, match="no token to ask for"):
        serve(serving)


def test_a_port_that_is_taken_is_named(root: Path, home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port} cannot be listened on"):
            serve(Serving(root=root, home=home, port=port))


def test_without_the_libraries_it_says_what_to_install(
    root: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UsageError, match=r"kimi-memory\[http\]"):
        serve(Serving(root=root, home=home))


async def _hello(scope: dict, receive: Callable, send: Callable) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}
    )
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def bounded() -> Iterator[tuple[str, int]]:
    """The address of a server that waits 0.3 s for a head, on 3 connections of an address."""
    listener = socket.create_server(("127.0.0.1", 0))
    protocol = bounded_protocol(0.3, Lines(each=3, every=3))
    config = uvicorn.Config(_hello, http=protocol, ws="none", lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join(20)


def _half(
    address: tuple[str, int], sent: bytes = b"GET / HTTP/1.1\r\nhost: x\r\n"
) -> socket.socket:
    line = socket.create_connection(address, timeout=10)
    line.sendall(sent)
    return line


def test_half_sent_heads_hold_up_nobody_for_long(bounded: tuple[str, int]) -> None:
    halves = [_half(bounded) for _ in range(3)]
    with socket.create_connection(bounded, timeout=10) as refused:
        assert refused.recv(1000).startswith(b"HTTP/1.1 503 ")
    assert [half.recv(1000) for half in halves] == [b"", b"", b""]
    with httpx.Client(trust_env=False) as client:
        assert client.get(f"http://{bounded[0]}:{bounded[1]}/").status_code == 200
    for half in halves:
        half.close()


def test_a_head_that_is_begun_after_an_answer_must_end_in_time(bounded: tuple[str, int]) -> None:
    with _half(bounded, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n") as line:
        assert line.recv(1000).startswith(b"HTTP/1.1 200 ")
        line.sendall(b"GET / HT")
        line.settimeout(3)  # less than the server keeps an idle connection
        assert line.recv(1000) == b""
