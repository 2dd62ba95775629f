"""A model server on loopback that says what it is told and keeps every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hosts import protocols
from hosts.protocols import Call

MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}
_SPOKEN = ("system", "instructions", "systemInstruction", "messages", "input", "contents")


class ScriptedModel(ThreadingHTTPServer):
    """Speaks the APIs of Anthropic, OpenAI and Gemini; answers each request with `reply`."""

    daemon_threads = True

    def __init__(self) -> None:
        self.reply = "Noted."
        self.calls: list[Call] = []
        """Tools to call first, where the program offers them."""
        self.requests: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Request)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def conversations(self) -> list[str]:
        """Every conversation that was sent, as text; the newest last."""
        return [
            json.dumps([body[name] for name in _SPOKEN if name in body], ensure_ascii=False)
            for body in self.requests
        ]

    def said(self, body: dict[str, Any]) -> protocols.Said:
        """What to answer to a request."""
        if self.calls and self.calls[0].name in json.dumps(body.get("tools") or []):
            return self.calls.pop(0)
        return self.reply


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        return

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._send(json.dumps(MODELS).encode(), "application/json")

    def do_POST(self) -> None:
        body = json.loads(self._received() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/messages"):
            self._answer(body, protocols.anthropic, stream=body.get("stream"))
        elif path.endswith("/chat/completions"):
            self._answer(body, protocols.chat, stream=body.get("stream"), ends="[DONE]")
        elif path.endswith("/responses"):
            self._answer(body, protocols.responses, stream=body.get("stream"))
        elif "generatecontent" in path.lower():
            self._answer(body, protocols.gemini, stream="stream" in path)
        else:
            self._send(b'{"input_tokens":10,"totalTokens":10}', "application/json")

    def _received(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, body: dict[str, Any], form: Any, *, stream: Any, ends: str = "") -> None:
        self.server.requests.append(body)
        whole, events = form(body, self.server.said(body), len(self.server.requests))
        if not stream:
            self._send(json.dumps(whole).encode(), "application/json")
            return
        named = [(f"event: {one['type']}\n" if "type" in one else "", one) for one in events]
        lines = [f"{name}data: {json.dumps(one)}\n\n" for name, one in named]
        lines += [f"data: {ends}\n\n"] if ends else []
        self._send("".join(lines).encode(), "text/event-stream")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A running server, gone at the end."""
    with ScriptedModel() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
