"""Embeddings over real HTTP from a scripted server; every failure leaves keywords alone."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from kimi_memory.plugins.ollama_embed import OllamaEmbed, create, is_loopback

from kimi_memory.errors import UsageError


class Script:
    """What the server answers, and what it was asked."""

    def __init__(self, answer: Any = None, status: int = 200, delay: float = 0.0) -> None:
        self.answer, self.status, self.delay = answer, status, delay
        self.asked: list[dict[str, Any]] = []
        self.released = threading.Event()

    def body(self, request: dict[str, Any]) -> bytes:
        if isinstance(self.answer, bytes):
            return self.answer
        vectors = self.answer or [[3.0, 4.0] for _ in request["input"]]
        return json.dumps({"model": request["model"], "embeddings": vectors}).encode()


@contextmanager
def serve(script: Script) -> Iterator[str]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.asked.append({"path": self.path, **request})
            script.released.wait(script.delay)
            body = script.body(request)
            try:
                self.send_response(script.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        script.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def plugin(host: str, **more: Any) -> OllamaEmbed:
    return create({"model": "bge-m3", "host": host, "timeout_seconds": 5, **more})


def test_without_a_model_it_passes() -> None:
    assert create({}).embed_texts(["a"], "query") is None


def test_vectors_come_back_as_unit_vectors_with_the_prefix_sent() -> None:
    script = Script()
    with serve(script) as host:
        embed = plugin(host, query_prefix="query: ", note_prefix="passage: ")
        found = embed.embed_texts(["部署", "deploy"], "query")
        embed.embed_texts(["x"], "note")
        assert embed.embed_texts(["x"], "similarity") is None
    assert found is not None
    assert found.model == "ollama:bge-m3"
    assert found.vectors == [[0.6, 0.8], [0.6, 0.8]]
    assert [ask["input"] for ask in script.asked] == [
        ["query: 部署", "query: deploy"],
        ["passage: x"],
    ]
    assert {ask["path"] for ask in script.asked} == {"/api/embed"}


@pytest.mark.parametrize(
    "script",
    [
        Script(b'{"error": "model not found"}', 404),
        Script(b"not json"),
        Script([[1.0, 0.0]]),
        Script([[1.0, 0.0], [1.0]]),
        Script([[0.0, 0.0], [0.0, 0.0]]),
        Script([["x"], ["y"]]),
        Script(b"", 500),
        Script(b"", 302),
    ],
    ids=["404", "garbage", "too few", "ragged", "zeros", "words", "500", "redirect"],
)
def test_a_bad_answer_is_logged_once_and_passes(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(script) as host, caplog.at_level(logging.WARNING, "kimi_memory.ollama"):
        embed = plugin(host)
        assert embed.embed_texts(["a", "b"], "query") is None
        assert embed.embed_texts(["a", "b"], "query") is None
    assert len(caplog.records) == 1
    assert "keywords answer alone" in caplog.text


def test_a_server_that_is_away_or_silent_costs_its_timeout_at_most() -> None:
    assert plugin("http://127.0.0.1:9").embed_texts(["a"], "query") is None
    with serve(Script(delay=20)) as host:
        began = time.monotonic()
        assert plugin(host, timeout_seconds=0.3).embed_texts(["a"], "query") is None
        assert time.monotonic() - began < 5


def test_it_recovers_when_the_server_does() -> None:
    script = Script(b"", 500)
    with serve(script) as host:
        embed = plugin(host)
        assert embed.embed_texts(["a"], "note") is None
        script.answer, script.status = None, 200
        assert embed.embed_texts(["a"], "note") is not None


def test_a_proxy_never_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with serve(Script()) as host:
        assert plugin(host).embed_texts(["a"], "query") is not None


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("http://127.0.0.1:11434", True),
        ("localhost:11434", True),
        ("http://[::1]:11434", True),
        ("https://example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("192.168.1.5", False),
    ],
)
def test_loopback_is_told_from_elsewhere(host: str, local: bool) -> None:
    assert is_loopback(host) is local


@pytest.mark.parametrize(
    "settings", [{"model": 3}, {"timeout_seconds": 0}, {"timeout_seconds": True}, {"host": None}]
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="ollama_embed"):
        create(settings)
