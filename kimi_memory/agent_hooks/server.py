"""The server of one memory: it keeps the memory open, so that hooks answer at once.

It listens on a socket inside the memory folder that only its owner can open, answers one
event at a time, and goes when nobody has asked for a while. It is never needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import socketserver
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kimi_memory.agent_hooks import socket_protocol, spool
from kimi_memory.agent_hooks.respond import YOUNG_SECONDS, Reply
from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.errors import KimiMemoryError, LockTimeoutError
from kimi_memory.operations.watcher import keep_index_informed

# Longer than people pause within a talk; a memory that nobody uses is soon let go.
IDLE_SECONDS = 600.0
LOCK = "server"
AGAIN_SECONDS = 20.0
"""So long after a look at the spool that left something there comes another."""
SOON_SECONDS = 1.0
"""… where what was left is young: a program may still be writing its log."""


def serve(root: Path, *, idle_seconds: float = IDLE_SECONDS) -> bool:
    """Serve a memory until nobody has asked for so long; False when another server does."""
    opening = Opening(actor=Actor("server", Origin.AGENT), background=True)
    with Memory.open(root, opening) as memory:
        try:
            with memory.store.lock(LOCK, timeout_seconds=0.0):
                _Server(memory).run(idle_seconds)
        except LockTimeoutError:
            # Another server of this memory was quicker; it answers for both.
            return False
    return True


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, memory: Memory) -> None:
        self._memory, self._reply = memory, Reply(memory)
        self._guard = threading.Lock()
        self._asked = time.monotonic()
        self._news = threading.Event()
        address = socket_protocol.address(str(memory.root))
        with contextlib.suppress(FileNotFoundError):
            Path(address).unlink()  # We hold the lock, so its maker is gone.
        super().__init__(address, _Line)
        Path(address).chmod(0o600)
        self._path = memory.root / socket_protocol.NAME
        # The folder may be deleted, or another server started: then the inode is another one.
        self._mark = self._path.stat().st_ino

    def run(self, idle_seconds: float) -> None:
        """Answer until nobody asks any more, or the socket is no longer ours."""
        for work in (self.serve_forever, self._drain_spool):
            threading.Thread(target=work, daemon=True).start()
        with keep_index_informed(self._memory):
            while time.monotonic() - self._asked < idle_seconds and self._is_ours():
                time.sleep(min(1.0, idle_seconds / 4))
        # No new questions first, then what is left in the spool, then the socket goes.
        self.shutdown()
        with self._guard:
            self._reply.drain()
        self.server_close()
        if self._is_ours():
            self._path.unlink()

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request; what only takes something in is done behind the answer."""
        self._asked = time.monotonic()
        if request.get("ping"):
            return {"pid": os.getpid()}
        if request.get("news"):
            self._news.set()  # It is on disk already: a kill of this process loses no event.
            return {"out": ""}
        with self._guard:
            return {"out": self._reply.to(request)}

    def _is_ours(self) -> bool:
        try:
            return self._path.stat().st_ino == self._mark
        except FileNotFoundError:
            # Somebody removed the socket: nobody can reach us any more.
            return False

    def _drain_spool(self) -> None:
        with self._guard, contextlib.suppress(KimiMemoryError):
            self._reply.sweep()
        self._news.set()  # What hooks left before there was a server comes first.
        while True:
            left = spool.take_events(str(self._memory.root))
            young = any(spool.age(path) < YOUNG_SECONDS for path, _ in left)
            again = SOON_SECONDS if young else AGAIN_SECONDS
            self._news.wait(again if left else None)
            self._news.clear()
            with self._guard:
                self._reply.drain()


class _Line(socketserver.StreamRequestHandler):
    timeout = 10.0

    def handle(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        try:
            request = json.loads(socket_protocol.receive(self.connection))
            answer = server.answer(request)
        except (KimiMemoryError, ValueError, KeyError, TypeError, OSError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        # The hook may have given up waiting; what it brought is stored already.
        with contextlib.suppress(OSError):
            self.wfile.write(json.dumps(answer).encode() + b"\n")
