"""The application of a memory: its API, and its pages beside it, with those of other memories."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from kimi_memory.server.app import App
from kimi_memory.server.auth import Tokens
from kimi_memory.server.many import Many
from kimi_memory.server.server import Serving
from kimi_memory.server.workers import Desk
from kimi_memory.web.live import Live
from kimi_memory.web.room import make_rooms
from kimi_memory.web.seats import Seats
from kimi_memory.web.sign_in import BACK
from kimi_memory.web.site import Site


def make_app(
    serving: Serving, desk: Desk, tokens: Tokens, stop: asyncio.Event, beside: Sequence[Desk] = ()
) -> App:
    """Return the application that answers programs and browsers."""
    doors = {desk.root: tokens}
    doors |= {other.root: other.tokens() for other in beside}
    seats = Seats(serving.home, doors, time.time)
    pages = Site(make_rooms([desk, *beside]), seats, Live(stop)).routes()
    return App(desk, tokens, serving, stop, pages=pages, landings=(BACK,))


def make_many(app: App, serving: Serving, below: Path, stop: asyncio.Event) -> Many:
    """Return the application that answers for the memories of a folder as well."""
    return Many(app, serving, below, stop)
