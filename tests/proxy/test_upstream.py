"""The model server behind the proxy: what it refuses, dies of or breaks off passes on."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fakes.chats import Chats
from fakes.served import Served

from tests.proxy.chats import PATHS, body_of, kept, user


@pytest.mark.parametrize("path", PATHS.values())
def test_what_the_model_server_refuses_passes_on(proxied: Served, chats: Chats, path: str) -> None:
    chats.status = 429
    with proxied.client() as client:
        asked = f"This is refused at {path}."
        answer = client.post(path, json={"model": "m", "messages": [user(asked)], "input": asked})
    assert (answer.status_code, answer.content) == (429, chats.error)
    assert answer.headers["x-request-id"] == "r-1"


def test_a_dead_model_server_is_named_in_the_form_of_each_client(
    serving: Callable[..., Served], folder: Path
) -> None:
    nobody = ("--upstream", "http://127.0.0.1:9")
    dead = serving(folder / "记忆", folder / "home", *nobody, command="proxy")
    for dialect, path in PATHS.items():
        with dead.client() as client:
            ask = body_of(dialect, [user(f"Is anybody there, {dialect}?")])
            answer = client.post(path, json=ask)
        error = answer.json()["error"]
        assert answer.status_code == 502
        assert "127.0.0.1:9 does not answer" in (error if dialect == "ollama" else error["message"])


def test_a_stream_that_breaks_off_breaks_off_and_is_kept_so_far(
    proxied: Served, chats: Chats
) -> None:
    chats.breaks, chats.reply = True, "Half of the answer came before the line broke."
    body = body_of("ollama", [user("Tell me of the broken line.")])
    with proxied.client() as client, pytest.raises(httpx.RemoteProtocolError):
        client.post("/api/chat", json=body)
    kept(proxied.root, "Tell me of the broken line.", chats.reply)


def test_a_client_that_leaves_stops_the_model_server(proxied: Served, chats: Chats) -> None:
    chats.endless, chats.reply = True, "x" * 100_000
    with proxied.client() as client:
        body = body_of("openai", [user("Say a great deal.")], stream=True)
        with client.stream("POST", "/v1/chat/completions", json=body) as answer:
            assert next(answer.iter_raw())
    assert chats.left.wait(60)


@pytest.mark.parametrize("upstream_path", ["", "/v1"])
@pytest.mark.parametrize(
    "target",
    [
        *("@127.0.0.1:{port}/x", "http://127.0.0.1:{port}/x", ".test/x", ":{port}/x", "*"),
        *("/v1/../admin", "/v1/%2e%2e/admin", "/..\\admin", "/./x", "/v1/..", "/" + "a" * 66_000),
    ],
    ids=lambda target: target[:20],
)
def test_a_request_reaches_no_other_server(
    serving: Callable[..., Served],
    folder: Path,
    chats: Chats,
    upstream_path: str,
    target: str,
) -> None:
    port = urlsplit(chats.url).port
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.2)
        server = _beside(serving, folder, f"http://127.0.0.1:{port}{upstream_path}")
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port), timeout=20) as line:
            asked = target.format(port=other.getsockname()[1])
            head = f"GET {asked} HTTP/1.1\r\nhost: {place.netloc}\r\nconnection: close\r\n\r\n"
            line.sendall(head.encode())
            assert line.recv(1000).startswith(b"HTTP/1.1 400 ")
        with pytest.raises(TimeoutError):
            other.accept()
    assert not chats.asked


_PROXIES: dict[str, Served] = {}


def _beside(serving: Callable[..., Served], folder: Path, upstream: str) -> Served:
    """Return a proxy before a server, started once."""
    if upstream not in _PROXIES:
        options = ("--upstream", upstream)
        _PROXIES[upstream] = serving(folder / "记忆", folder / "home", *options, command="proxy")
    return _PROXIES[upstream]
