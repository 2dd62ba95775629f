"""A model server on loopback that says what a script says, with the interface of OpenAI."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Say = Callable[[str], str]
"""Makes the text of an answer from that of a prompt."""


class _Answering(BaseHTTPRequestHandler):
    say: Say

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = type(self).say(body["messages"][-1]["content"])
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        answer = {"id": "c1", "choices": [{**choice, "finish_reason": "stop"}]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing on the terminal."""


@contextmanager
def serve(say: Say) -> Iterator[str]:
    """Run the server; the value is its address."""
    answering = type("Answering", (_Answering,), {"say": staticmethod(say)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
