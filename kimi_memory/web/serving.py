"""A server of a memory with its pages, whose libraries are loaded when it starts."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kimi_memory.agent_hooks.user_files import drop, put, text_at
from kimi_memory.server.auth import Tokens
from kimi_memory.server.server import Serving, serve_app
from kimi_memory.server.workers import Desk


def serve(serving: Serving, ready: Callable[[str, bool], None] = lambda url, guarded: None) -> None:
    """Serve a memory, with its pages, until the process is asked to end.

    Args:
        serving: what, where, for whom.
        ready: called with the address once it takes requests, and whether a token is needed.

    Raises:
        UsageError: the libraries are not installed, the address is taken, or it can be
            reached from outside and there is no token.
    """
    others: list[Desk] = []

    def made(desk: Desk, tokens: Tokens, stop: asyncio.Event) -> Any:
        from kimi_memory.web.site_app import make_app, make_many

        for root in serving.beside:
            others.append(Desk(root, serving.home, serving.limits.waiting))
            at_end.callback(others[-1].close)
        app = make_app(serving, desk, tokens, stop, others)
        if serving.below is None:
            return app
        many = make_many(app, serving, serving.below, stop)
        at_end.callback(many.close)
        return many

    place = _address_path(serving)

    def announced(url: str, guarded: bool) -> None:
        put(place, url)
        ready(url, guarded)

    with ExitStack() as at_end:
        at_end.callback(drop, place)
        serve_app(serving, made, announced)


def find_server(serving: Serving) -> str:
    """Return the address of a server that has this memory open; empty where none has."""
    url = text_at(_address_path(serving))
    try:
        parts = urlsplit(url)
        # A server that was killed leaves its address behind.
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=2).close()
    except (OSError, ValueError):
        return ""
    return url


def _address_path(serving: Serving) -> Path:
    name = hashlib.sha256(str(serving.root).encode("utf-8", "replace")).hexdigest()[:32]
    return serving.home.state / "served" / name
