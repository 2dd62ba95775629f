"""An editor over real standard input and output: messages of the protocol, nothing in between."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

DEADLINE_S = 30.0


class Editor:
    """Starts the server on a folder, sends requests, and keeps what it says by itself."""

    def __init__(self, root: Path, home: Path, **options: object) -> None:
        env = os.environ | {"XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}
        argv = [sys.executable, "-P", "-m", "kimi_memory", "lsp", "--stdio"]
        self.root = root
        self._server = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env=env
        )
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.said: queue.Queue[dict[str, Any]] = queue.Queue()
        self._last = self._version = 0
        threading.Thread(target=self._listen, daemon=True).start()
        self.capabilities = self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "capabilities": {"textDocument": {"rename": {"prepareSupport": True}}},
                "initializationOptions": options,
            },
        )["capabilities"]
        self.tell("initialized", {})

    @property
    def process(self) -> int:
        """The number of the process of the server."""
        return self._server.pid

    def _listen(self) -> None:
        stream = self._server.stdout
        assert stream is not None
        while line := stream.readline():
            size = int(line.split(b":")[1])
            while stream.readline().strip():
                pass
            message = json.loads(stream.read(size))
            if "id" in message and "method" not in message:
                self._answers[message["id"]].put(message)
            else:
                self.said.put(message)

    def _send(self, message: dict[str, Any]) -> None:
        raw = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
        self._server.stdin.flush()

    def tell(self, method: str, params: object) -> None:
        """Send a notice."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: object, *, refused: bool = False) -> Any:
        """Return the answer to a request, or the message of its refusal."""
        self._last += 1
        self._answers[self._last] = queue.Queue()
        self._send({"id": self._last, "method": method, "params": params})
        answer = self._answers[self._last].get(timeout=DEADLINE_S)
        assert ("error" in answer) is refused, answer
        return answer["error"]["message"] if refused else answer["result"]

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def open(self, path: str, text: str | None = None) -> list[dict[str, Any]]:
        """Open a file, and return what the server finds wrong with it."""
        text = (self.root / path).read_text("utf-8") if text is None else text
        self._version += 1
        document = {"uri": self.uri(path), "version": self._version}
        item = {**document, "languageId": "markdown", "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return self._diagnostics()

    def change(self, path: str, text: str) -> list[dict[str, Any]]:
        """Type into a file, and return what the server finds wrong with it."""
        self._version += 1
        document = {"uri": self.uri(path), "version": self._version}
        self.tell(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": [{"text": text}]},
        )
        return self._diagnostics()

    def _diagnostics(self) -> list[dict[str, Any]]:
        while True:
            message = self.said.get(timeout=DEADLINE_S)
            params = message["params"]
            if message["method"].endswith("Diagnostics") and params["version"] == self._version:
                return list(params["diagnostics"])

    def at(self, method: str, path: str, needle: str, more: int = 1, **params: object) -> Any:
        """Ask about the place where some words stand in a file."""
        lines = (self.root / path).read_text("utf-8").splitlines()
        line = next(n for n, text in enumerate(lines) if needle in text)
        column = len(lines[line][: lines[line].index(needle)].encode("utf-16-le")) // 2 + more
        place = {"line": line, "character": column}
        document = {"uri": self.uri(path)}
        return self.ask(
            f"textDocument/{method}", {"textDocument": document, "position": place, **params}
        )

    def run(self, command: str, *arguments: object, refused: bool = False) -> Any:
        asked = {"command": command, "arguments": list(arguments)}
        return self.ask("workspace/executeCommand", asked, refused=refused)

    def close(self) -> int:
        """Say goodbye, and return the exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        code = self._server.wait(timeout=DEADLINE_S)
        for stream in (self._server.stdin, self._server.stdout):
            assert stream is not None
            stream.close()
        return code
