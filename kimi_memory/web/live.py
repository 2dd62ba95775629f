"""Live: an open page learns what is stored meanwhile, as it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable

from kimi_memory.server import events
from kimi_memory.server.principal import Namespace
from kimi_memory.server.responses import Event
from kimi_memory.server.workers import Desk

# Nobody notices so small a delay, and each look asks for all files.
POLL_SECONDS = 0.5
MOST = 32
"""So many pages are told at a time; a browser opens a stream for the tab that is seen alone."""


class Live:
    """Streams of what is stored, for pages that are looked at.

    Args:
        stop: set when the server is asked to end.
    """

    def __init__(self, stop: asyncio.Event) -> None:
        self._streams = events.Streams(stop, MOST, POLL_SECONDS)

    async def follow(
        self, desk: Desk, space: Namespace, seated: Callable[[], bool]
    ) -> AsyncGenerator[str, None]:
        """Return the stream of one page, from now on.

        Args:
            desk: of the memory.
            space: what the page may learn of.
            seated: whether who looks still may; else the stream ends.

        Raises:
            ServerError: too many are open.
        """
        self._streams.check_room()
        seq = await asyncio.to_thread(events.head, desk.memory)

        async def stays() -> bool:
            return seated()

        first = "retry: 2000\n\n"
        return self._streams.follow(desk, seq, space, first=first, render=_format_news, stays=stays)


def _format_news(event: Event) -> str:
    # No words: a page that is open learns that there is news, and what kind.
    told = json.dumps({"kind": event.kind, "path": event.path})
    return f"id: {event.seq}\ndata: {told}\n\n"
