"""A model server on loopback that says what it is told and keeps every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 10, "output_tokens": 5}


class ScriptedModel(ThreadingHTTPServer):
    """Speaks Anthropic's messages; answers each request with `reply`."""

    daemon_threads = True

    def __init__(self) -> None:
        self.reply = "Noted."
        self.requests: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Request)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def conversations(self) -> list[str]:
        """Every conversation that was sent, as text; the newest last."""
        return [
            json.dumps([body.get("system"), body["messages"]], ensure_ascii=False)
            for body in self.requests
            if body.get("messages")
        ]


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        return

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._send(b'{"data":[]}', "application/json")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            self._send(b'{"input_tokens":10}', "application/json")
        elif path.endswith("/messages"):
            self.server.requests.append(body)
            self._message(body)
        else:
            self._send(b"{}", "application/json")

    def _message(self, body: dict[str, Any]) -> None:
        block = {"type": "text", "text": self.server.reply}
        whole = {
            "id": f"msg_{len(self.server.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": [block],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": USAGE,
        }
        if not body.get("stream"):
            self._send(json.dumps(whole).encode(), "application/json")
            return
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": block["text"]},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
            {"type": "message_stop"},
        ]
        lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events]
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
