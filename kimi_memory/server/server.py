"""The running server: a socket, a loop, and an orderly end.

The one module that knows the library uvicorn.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kimi_memory.api.options import Home
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.watcher import keep_index_informed
from kimi_memory.server.auth import Names, Tokens
from kimi_memory.server.rate_limit import HEAD_SECONDS, Limits, Line, Lines
from kimi_memory.server.workers import Desk

_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)
END_SECONDS = 10
"""So long requests may go on after the server was asked to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a memory is served."""

    root: Path
    home: Home
    names: Names = field(default_factory=Names)
    port: int = 8378
    """0 for any that is free."""
    limits: Limits = field(default_factory=Limits)
    beside: tuple[Path, ...] = ()
    """Other memories whose pages are served; the API answers for the first alone."""
    below: Path | None = None
    """A folder whose memories are served as ``/m/NAME`` as well."""


def serve_app(
    serving: Serving,
    made: Callable[[Desk, Tokens, asyncio.Event], Any],
    ready: Callable[[str, bool], None],
) -> None:
    """Serve an application in front of a memory until the process is asked to end.

    Args:
        serving: what, where, for whom.
        made: makes the application; the event is set when it should come to an end.
        ready: called with the address once it takes requests, and whether a token is needed.

    Raises:
        UsageError: as `serve` does.
    """
    uvicorn = _import_uvicorn()
    desk = Desk(serving.root, serving.home, serving.limits.waiting)
    try:
        tokens, stop = desk.tokens(), asyncio.Event()
        names = serving.names
        if not names.local and not tokens.all() and not desk.issued.known():
            raise UsageError(
                f"{names.bound} can be reached from outside, and there is no token to ask for. "
                "Make one with 'kimi-memory serve token add NAME', or use 127.0.0.1."
            )
        with _open_listener(names.bound, serving.port) as listener:
            app = made(desk, tokens, stop)
            # A page on this machine is served without a token until there is one, or a space.
            asks = not names.local or bool(tokens.all()) or desk.guard is not None
            host, port = listener.getsockname()[:2]
            ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}", asks)
            with keep_index_informed(desk.memory):
                _run_server(uvicorn, app, listener, stop)
    finally:
        desk.close()


def _import_uvicorn() -> Any:
    """Return the library of the server, where that of the application is there too."""
    try:
        import uvicorn

        if find_spec("starlette") is None:
            raise ImportError("starlette")
    except ImportError as error:
        why = "The HTTP server needs starlette and uvicorn. Install kimi-memory[http]."
        raise UsageError(why) from error
    return uvicorn


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only of a socket that names its protocol does the loop know that it may not wait
    # for more to send, which costs 40 ms a request.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A server that was just ended may be started again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(512)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"{host}:{port} cannot be listened on: {error}. Use another.") from error
    return listener


def _run_server(uvicorn: Any, app: Any, listener: socket.socket, stop: asyncio.Event) -> None:
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=bounded_protocol(HEAD_SECONDS, Lines()),
        # Browsers do not hold WebSockets to the rules for other requests.
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_level="warning",
        access_log=False,
        # Any client can write such headers; limits count the connection's own address.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
    )

    class Server(uvicorn.Server):  # type: ignore[misc]  # the library is loaded when it is needed
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Let streams end, then wait for requests."""
            stop.set()
            await super().shutdown(sockets)

    with _outliving_signals():
        Server(config).run(sockets=[listener])


def bounded_protocol(head_seconds: float, lines: Lines) -> type[Any]:
    """Return the protocol of a connection, with a deadline for heads and a limit of lines.

    Args:
        head_seconds: so long the head of a request may take.
        lines: counts the connections.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Bounded(H11Protocol):
        _line: Line | None = None

        def connection_made(self, transport: Any) -> None:
            """Take a connection, or turn it away."""
            super().connection_made(transport)
            self._line = lines.open_line(self.client[0] if self.client else "?")
            if self._line is None:
                transport.write(_TOO_MANY)
                transport.close()
            else:
                self._line.wait_for_head(self.loop, transport.close, head_seconds)

        def data_received(self, data: bytes) -> None:
            """Take bytes; a head that is begun must end in time."""
            if self._line is None or self.transport.is_closing():
                return
            # The library makes a new scope when a head is whole.
            before = self.scope
            super().data_received(data)
            busy = self.cycle is not None and not self.cycle.response_complete
            if busy or self.scope is not before:
                self._line.head_came()
            else:
                self._line.wait_for_head(self.loop, self.transport.close, head_seconds)

        def connection_lost(self, exc: Exception | None) -> None:
            """Let the next one in."""
            if self._line is not None:
                self._line.leave()
            super().connection_lost(exc)

    return Bounded


@contextmanager
def _outliving_signals() -> Iterator[None]:
    """Keep the process alive when the library, once it ended, raises the signal again.

    What was written is committed, and the folder let go of, only after that.
    """
    signals: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
    # Python lets no other thread set handlers.
    if threading.current_thread() is not threading.main_thread():
        signals = ()
    before = [signal.signal(one, lambda *_: None) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
