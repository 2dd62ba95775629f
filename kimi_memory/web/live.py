"""Live: an open page learns what is stored meanwhile, as it happens."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable

from kimi_memory.server import events
from kimi_memory.server.principal import Namespace
from kimi_memory.server.rate_limit import busy
from kimi_memory.server.responses import Event
from kimi_memory.server.workers import Desk

# Nobody notices so small a delay, and each look asks for all files.
POLL_SECONDS = 0.5
QUIET_SECONDS = 15.0
"""After so long a silence a stream says that it is still there."""
MOST = 32
"""So many pages are told at a time; a browser opens a stream for the tab that is seen alone."""


class Live:
    """Streams of what is stored, for pages that are looked at.

    Args:
        stop: set when the server is asked to end.
    """

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop, self._open = stop, 0

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
        if self._open >= MOST:
            raise busy()
        seq = await asyncio.to_thread(events.head, desk.memory)
        return self._yield_lines(desk, space, seated, seq)

    async def _yield_lines(
        self, desk: Desk, space: Namespace, seated: Callable[[], bool], seq: int
    ) -> AsyncGenerator[str, None]:
        self._open += 1
        said = time.monotonic()
        try:
            yield "retry: 2000\n\n"
            while not self._stop.is_set():
                seq, found = await asyncio.to_thread(events.since, desk.memory, seq, space)
                # Before each part, which is sent at once: who has left learns of nothing more.
                if not seated():
                    return
                if found:
                    yield "".join(map(_format_news, found))
                    said = time.monotonic()
                elif time.monotonic() - said > QUIET_SECONDS:
                    said = time.monotonic()
                    yield ": still here\n\n"
                await self._wait()
        finally:
            self._open -= 1

    async def _wait(self) -> None:
        try:
            # Waits for the stop itself, so that the server can end at once.
            async with asyncio.timeout(POLL_SECONDS):
                await self._stop.wait()
        except TimeoutError:
            return


def _format_news(event: Event) -> str:
    # No words: a page that is open learns that there is news, and what kind.
    told = json.dumps({"kind": event.kind, "path": event.path})
    return f"id: {event.seq}\ndata: {told}\n\n"
