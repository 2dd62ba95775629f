"""The application of a memory: its API, and its pages beside it."""

from __future__ import annotations

import asyncio

from kimi_memory.server.app import App, Office
from kimi_memory.server.server import Serving
from kimi_memory.server.tokens import Tokens
from kimi_memory.server.workers import Desk
from kimi_memory.web.site import Site


def make_app(serving: Serving, desk: Desk, tokens: Tokens, stop: asyncio.Event) -> App:
    """Return the application that answers programs and browsers."""
    pages = Site(desk, tokens, serving.home).routes()
    names, limits = serving.names, serving.limits
    return App(Office(desk=desk, tokens=tokens, names=names, limits=limits, stop=stop, pages=pages))
