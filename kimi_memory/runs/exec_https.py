"""An execution node over HTTPS: one request a POST, from clients whose certificate it knows.

The one module of runs that knows the library uvicorn.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory.errors import UsageError
from kimi_memory.runs.exec_node import ExecNode

_MOST_BYTES = 16 * 1024 * 1024
_AT_ONCE = 64
_END_SECONDS = 5
_Receive = Callable[[], Awaitable[Mapping[str, Any]]]
_Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class Certificates(NamedTuple):
    """Files that say who a node is, and whom it answers."""

    own: Path
    """Its certificate."""
    key: Path
    clients: Path
    """Certificates of those, or of who signs theirs, whom it answers."""


def serve_https(node: ExecNode, address: tuple[str, int], files: Certificates) -> None:
    """Answer until the process is asked to end.

    Args:
        node: answers.
        address: host and port to listen on.
        files: who it is, and whom it answers; who has no certificate gets no connection.

    Raises:
        UsageError: a library or a file is missing, or the address is taken.
    """
    try:
        uvicorn = import_module("uvicorn")
    except ImportError as error:
        raise UsageError("HTTPS needs uvicorn. Install kimi-memory[http].") from error
    config = uvicorn.Config(
        build_app(node), loop="asyncio", http="h11", ws="none", lifespan="off",
        interface="asgi3", log_level="warning", access_log=False, proxy_headers=False,
        server_header=False, timeout_graceful_shutdown=_END_SECONDS, limit_concurrency=_AT_ONCE,
        ssl_certfile=files.own, ssl_keyfile=files.key, ssl_ca_certs=str(files.clients),
        ssl_cert_reqs=ssl.CERT_REQUIRED,
    )  # fmt: skip
    try:
        config.load()
    except OSError as error:  # Errors of TLS are of this kind, too.
        why = f"{', '.join(map(str, files))}: {error}"
        raise UsageError(f"The certificates cannot be used: {why}. Give PEM files.") from error
    with _open_listener(address) as listener:
        # The library raises the signal once more when it ended, and programs are still to be ended.
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)


def _open_listener(address: tuple[str, int]) -> socket.socket:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    try:
        return socket.create_server(address, family=family)
    except OSError as error:
        place = ":".join(map(str, address))
        raise UsageError(f"{place} cannot be listened on: {error}. Use another.") from error


def build_app(node: ExecNode) -> Callable[[Mapping[str, Any], _Receive, _Send], Awaitable[None]]:
    """Return the application: a request in the body of a POST, its answer in that of the reply."""
    # Some wait for a program for minutes; they must not keep others from asking.
    threads = ThreadPoolExecutor(_AT_ONCE)

    async def answer(scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        if scope["method"] != "POST":
            return await _reply(send, 405, b"send a POST\n")
        body = bytearray()
        while True:
            part = await receive()
            if part["type"] == "http.disconnect":
                return None
            body += part.get("body", b"")
            if len(body) > _MOST_BYTES:
                return await _reply(send, 413, b"too long\n")
            if not part.get("more_body"):
                break
        text = bytes(body).decode("utf-8", "replace")
        said = await asyncio.get_running_loop().run_in_executor(threads, node.answer, text)
        return await _reply(send, 200, said.encode())

    return answer


async def _reply(send: _Send, status: int, body: bytes) -> None:
    kind = b"application/json" if status == 200 else b"text/plain"
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
