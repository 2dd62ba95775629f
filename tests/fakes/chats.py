"""A scripted chat server on loopback: bytes in, bytes out, in pieces, at the test's pace."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from typing import Any

from kimi_memory import Memory

USAGE = {"input_tokens": 10, "output_tokens": 5}


@dataclass
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def text(self) -> str:
        """Its JSON, with Chinese readable."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass
class Chats:
    """What the server says, and what it was asked."""

    url: str = ""
    reply: str = "Noted."
    status: int = 200
    error: bytes = b'{"error": {"message": "no more credit", "code": "quota"}}'
    pace: threading.Semaphore | None = None
    """Where set, each piece of a stream waits for a release."""
    breaks: bool = False
    """Whether a stream breaks off before its last piece."""
    endless: bool = False
    """Whether a stream goes on until its client leaves."""
    calls: dict[str, Any] | None = None
    """A tool that is called instead of a reply, by its name."""
    asked: list[Asked] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    """Every piece of the latest answer."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client went away in the middle of a stream."""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, list[bytes]]:
        """Return the content type of an answer, and its pieces."""
        if path.endswith("/chat/completions"):
            return self._openai(body)
        if path.endswith("/responses"):
            return self._responses(body)
        if path.endswith("/messages"):
            return self._anthropic(body)
        if path.endswith("/api/chat"):
            return self._ollama(body)
        return "application/json", [b'{"object": "list", "data": [{"id": "m"}], "models": []}']

    def _halves(self) -> tuple[str, str]:
        middle = max(1, len(self.reply) // 2)
        return self.reply[:middle], self.reply[middle:]

    def _openai(self, body: dict[str, Any]) -> tuple[str, list[bytes]]:
        base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        if not body.get("stream"):
            message: dict[str, Any] = {"role": "assistant", "content": self.reply}
            if self.calls:
                message = {"role": "assistant", "content": None, "tool_calls": [self.calls]}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            whole = {**base, "object": "chat.completion", "choices": [choice]}
            return _json({**whole, "usage": {"prompt_tokens": 1, "total_tokens": 2}})
        events = [
            {**base, "choices": [{"index": 0, "delta": {"content": half}, "finish_reason": None}]}
            for half in self._halves()
        ]
        events.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        lines = [f"data: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in events]
        return "text/event-stream", [b": hello\n\n", *lines, b"data: [DONE]\n\n"]

    def _responses(self, body: dict[str, Any]) -> tuple[str, list[bytes]]:
        id = f"resp_{len(self.asked)}"
        part = {"type": "output_text", "text": self.reply, "annotations": []}
        item = {
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [part],
        }  # fmt: skip
        whole = {
            "id": id, "object": "response", "created_at": 1, "status": "completed", "model": "m",
            "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        }  # fmt: skip
        if not body.get("stream"):
            return _json(whole)
        begun = {**whole, "status": "in_progress", "output": []}
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": []}
        events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
        events += [
            {"type": "response.output_text.delta", "delta": half, **place}
            for half in self._halves()
        ]
        events.append({"type": "response.completed", "response": whole})
        return _named([{**one, "sequence_number": n} for n, one in enumerate(events)])

    def _anthropic(self, body: dict[str, Any]) -> tuple[str, list[bytes]]:
        block = {"type": "text", "text": self.reply}
        whole = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [block], "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE,
        }  # fmt: skip
        if not body.get("stream"):
            return _json(whole)
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": h}}
            for h in self._halves()
        ]
        return _named(
            [
                {"type": "message_start", "message": {**whole, "content": []}},
                {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}},
                *deltas,
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
                {"type": "message_stop"},
            ]
        )

    def _ollama(self, body: dict[str, Any]) -> tuple[str, list[bytes]]:
        def piece(text: str, *, done: bool) -> dict[str, Any]:
            message = {"role": "assistant", "content": text}
            return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message,
                    "done": done}  # fmt: skip

        if body.get("stream", True) is False:
            return _json(piece(self.reply, done=True))
        pieces = [*(piece(half, done=False) for half in self._halves()), piece("", done=True)]
        lines = [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in pieces]
        return "application/x-ndjson", lines


def fill(root: Path) -> None:
    """Make a memory in two languages and two projects, for chats to ask of."""
    with Memory.create(root) as memory:
        memory.remember("The staging database listens on port 6543.", key="staging.port")
        memory.remember("用户更喜欢用中文回答。", key="reply.language", type="preference")
        memory.remember("部署定在每周五下午。", key="deploy.day", project="apollo")
        memory.remember("The launch code word of hermes is marigold.", project="hermes")


def _json(value: dict[str, Any]) -> tuple[str, list[bytes]]:
    return "application/json", [json.dumps(value).encode()]


def _named(events: list[dict[str, Any]]) -> tuple[str, list[bytes]]:
    lines = [
        f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n" for one in events
    ]
    return "text/event-stream", [line.encode() for line in lines]


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chats: Chats

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            self._answer(b"".join(self._chunks()))
        else:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, raw: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.chats.asked.append(Asked(self.command, self.path, headers, raw))
        if self.chats.status != 200:
            self._begin(self.chats.status, "application/json", str(len(self.chats.error)))
            self.wfile.write(self.chats.error)
            return
        body = json.loads(raw) if raw.startswith(b"{") else {}
        kind, pieces = self.chats.answer(self.path.partition("?")[0], body)
        self.chats.sent[:] = pieces
        if kind == "application/json":
            self._begin(200, kind, str(len(pieces[0])))
            self.wfile.write(pieces[0])
        else:
            self._stream(kind, pieces)

    def _stream(self, kind: str, pieces: list[bytes]) -> None:
        self._begin(200, kind, "")
        try:
            told = pieces[: -1 if self.chats.breaks else None]
            for piece in cycle(told) if self.chats.endless else told:
                if self.chats.pace:
                    self.chats.pace.acquire(timeout=60)
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if not self.chats.breaks:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.chats.left.set()
            self.close_connection = True
        self.close_connection = self.close_connection or self.chats.breaks

    def _begin(self, status: int, kind: str, length: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Request-Id", "r-1")
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        if length:
            self.send_header("Content-Length", length)
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()


@contextmanager
def chatting() -> Iterator[Chats]:
    """A running server, gone at the end."""
    chats = Chats()
    answering = type("Answering", (_Answering,), {"chats": chats})
    server = ThreadingHTTPServer(("127.0.0.1", 0), answering)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    chats.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield chats
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
