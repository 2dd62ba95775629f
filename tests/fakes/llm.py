"""A scripted model server on loopback: Ollama's and OpenAI's interface over real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Manner = Literal["well", "slow", "500", "garbage", "nothing", "broken off", "drip", "redirect"]
Say = Callable[[str], str]


def unit_vector(text: str) -> list[float]:
    """Return a vector of letter counts: enough for texts that share letters to be near."""
    counts = [0.5] * 16
    for letter in text.lower():
        counts[ord(letter) % 16] += 1.0
    return counts


@dataclass
class Script:
    """What the server answers, and what it was asked."""

    say: Say = lambda prompt: "{}"
    """The text of an answer, made from the prompt."""
    manner: Manner = "well"
    refuses: tuple[str, ...] = ()
    """Fields or forms of a request that it answers with 400."""
    embed: Callable[[str], list[float]] = unit_vector
    finish: str = "stop"
    asked: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def prompts(self) -> list[str]:
        """Return the prompts it was shown."""
        chats = [one["messages"][0]["content"] for one in self.asked if "messages" in one]
        calls = [one["contents"][0]["parts"] for one in self.asked if "contents" in one]
        return chats + [parts[0]["text"] for parts in calls]

    def to(self, path: str) -> list[dict[str, Any]]:
        """Return the requests to a path."""
        return [one for one in self.asked if one["path"] == path]

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Return the JSON a good server gives."""
        if path.endswith("embeddings"):
            rows = [
                {"index": n, "embedding": self.embed(text)} for n, text in enumerate(body["input"])
            ]
            return {"object": "list", "data": rows[::-1], "usage": {"prompt_tokens": 1}}
        if path == "/api/embed":
            return {"model": body["model"], "embeddings": [self.embed(t) for t in body["input"]]}
        if path.endswith(":batchEmbedContents"):
            texts = [one["content"]["parts"][0]["text"] for one in body["requests"]]
            return {"embeddings": [{"values": self.embed(text)} for text in texts]}
        if path.endswith(":generateContent"):
            return _gemini(self.say(body["contents"][0]["parts"][0]["text"]), self.finish)
        if path.endswith("/rerank"):
            return json.loads(self.say(json.dumps(body)))
        text = self.say(body["messages"][0]["content"])
        if path == "/api/chat":
            return _ollama_chat(text, self.finish)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        choice["finish_reason"] = self.finish
        usage = {"prompt_tokens": 120, "completion_tokens": 30}
        return {"id": "c1", "choices": [choice], "usage": usage}

    def refusal(self, body: dict[str, Any]) -> str:
        """Return what a request has that the script refuses."""
        told = json.dumps(body)
        return next((name for name in self.refuses if f'"{name}"' in told), "")


def _ollama_chat(text: str, finish: str) -> list[dict[str, Any]]:
    half = len(text) // 2
    pieces: list[dict[str, Any]] = [
        {"model": "m", "message": {"role": "assistant", "content": part}, "done": False}
        for part in (text[:half], text[half:])
    ]
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}
    counts = {"done_reason": finish, "prompt_eval_count": 120, "eval_count": 30}
    return [*pieces, {**end, **counts}]


def _gemini(text: str, finish: str) -> dict[str, Any]:
    if finish == "blocked":
        return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}
    half = len(text) // 2
    parts: list[dict[str, Any]] = [{"text": "hm", "thought": True}]
    parts += [{"text": text[:half]}, {"text": text[half:]}]
    reason = {"length": "MAX_TOKENS"}.get(finish, "STOP")
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}
    usage = {"promptTokenCount": 120, "candidatesTokenCount": 30, "totalTokenCount": 155}
    usage["thoughtsTokenCount"] = 5
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}


_FIXED: dict[str, tuple[bytes, int]] = {
    "500": (b"out of memory", 500),
    "redirect": (b"", 302),
    "garbage": (b"<html>\xff\x00 no JSON {{{", 200),
    "nothing": (b"", 200),
}


class _Answering(BaseHTTPRequestHandler):
    script: Script

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.script.asked.append({**body, "path": self.path, "headers": headers})
        try:
            self._act(body)
        except OSError:
            self.close_connection = True

    def _act(self, body: dict[str, Any]) -> None:
        refused = self.script.refusal(body)
        if refused:
            told = "max_completion_tokens" if refused == "max_tokens" else refused
            self._send(json.dumps({"error": {"message": f"unsupported: {told}"}}).encode(), 400)
        elif self.script.manner in _FIXED:
            self._send(*_FIXED[self.script.manner])
        else:
            self._well_or_not(body)

    def _well_or_not(self, body: dict[str, Any]) -> None:
        match self.script.manner:
            case "slow":
                self.script.released.wait(30)
                self._send(self._good(body))
            case "drip":
                self._drip()
            case "broken off":
                good = self._good(body)
                self._head(len(good) * 2)
                self.wfile.write(good[: len(good) // 2])
                self.close_connection = True
            case _:
                self._send(self._good(body))

    def _good(self, body: dict[str, Any]) -> bytes:
        answer = self.script.answer(self.path, body)
        if self.path == "/api/chat":
            return b"".join(json.dumps(piece).encode() + b"\n" for piece in answer)
        return json.dumps(answer).encode()

    def _drip(self) -> None:
        """Send a piece every moment and never come to an end."""
        self._head(10**6)
        piece = json.dumps({"message": {"role": "assistant", "content": "."}, "done": False})
        while not self.script.released.wait(0.05):
            self.wfile.write(piece.encode() + b"\n")

    def _send(self, content: bytes, status: int = 200) -> None:
        self._head(len(content), status)
        self.wfile.write(content)

    def _head(self, length: int, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve(script: Script) -> Iterator[str]:
    """Run the server; the value is its address."""
    answering = type("Answering", (_Answering,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        script.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
