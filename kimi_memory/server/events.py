"""Events: what was stored and which jobs ran, reported as they happen by whichever process.

They are read from the journal, from the place where a client stopped. Nobody who writes
knows of the readers, so a slow one holds up nothing, and one that comes back misses nothing.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.formats.job_file import FOLDER as JOBS
from kimi_memory.server.principal import Namespace
from kimi_memory.server.rate_limit import busy
from kimi_memory.server.responses import Event
from kimi_memory.server.workers import Desk
from kimi_memory.store.wal.records import EXTERNAL

QUIET_SECONDS = 15.0
"""After so long a silence a stream says that it is still there."""
_SESSION = re.compile(r"(?:.+/)?session_(?P<id>[^/]+)\.jsonl")
_JOB = re.compile(rf"{JOBS}/(?P<id>[^/]+)\.json")


class Streams:
    """Streams of what happens; each client is at its own place in the journal.

    Args:
        stop: set when the server is asked to end.
        most: so many are open at a time.
        poll_seconds: so often the journal is looked at.
    """

    def __init__(self, stop: asyncio.Event, most: int, poll_seconds: float) -> None:
        self._stop, self._most, self._poll_seconds = stop, most, poll_seconds
        self.open = 0

    def check_room(self) -> None:
        """Raise ServerError where too many are open."""
        if self.open >= self._most:
            raise busy()

    async def follow(
        self, desk: Desk, seq: int, space: Namespace, *, first: str,
        render: Callable[[Event], str], stays: Callable[[], Awaitable[bool]],
    ) -> AsyncGenerator[str, None]:  # fmt: skip
        """Yield what happens after a number.

        Args:
            desk: of the memory.
            seq: the number.
            space: what the client may learn of.
            first: what the stream begins with.
            render: returns an event as the client gets it.
            stays: whether the client may still learn of it; else the stream ends.
        """
        self.open += 1
        silent = time.monotonic()
        try:
            yield first
            while not self._stop.is_set():
                seq, found = await asyncio.to_thread(since, desk.memory, seq, space)
                # Asked before each part, which is sent at once: who has left, or whose token was
                # taken back, learns of nothing more.
                if not await stays():
                    return
                if found:
                    yield "".join(map(render, found))
                    silent = time.monotonic()
                elif time.monotonic() - silent > QUIET_SECONDS:
                    silent = time.monotonic()
                    yield ": still here\n\n"
                await self._wait()
        finally:
            self.open -= 1

    async def _wait(self) -> None:
        try:
            # Waits for the stop itself, so that the server can end at once.
            async with asyncio.timeout(self._poll_seconds):
                await self._stop.wait()
        except TimeoutError:
            return


def head(memory: Memory) -> int:
    """Return the number of the last thing that happened."""
    return memory.store.journal.head()[0]


def since(memory: Memory, seq: int, space: Namespace) -> tuple[int, list[Event]]:
    """Return how far the journal goes, and what happened after a number in a namespace."""
    if head(memory) <= seq:
        return seq, []
    records = memory.store.journal.since(seq)
    events = [event for record in records for event in _yield_events(record)]
    seen = [event for event in events if _is_seen(memory, event, space)]
    return max([seq, *(_record_number(record) for record in records)]), seen


def _is_seen(memory: Memory, event: Event, space: Namespace) -> bool:
    if not space:
        return True
    # Jobs and edits concern the whole memory; of a file that is gone nobody knows whose it was.
    if event.kind != "capture" or not memory.store.exists(event.path):
        return False
    return space.holds_path(memory, event.path)


def _record_number(record: Mapping[str, Any]) -> int:
    seq = record.get("seq")
    return seq if isinstance(seq, int) else 0


def _yield_events(record: Mapping[str, Any]) -> Iterator[Event]:
    """Yield what a record of the journal tells, if anything."""
    path, at = str(record.get("path", "")), str(record.get("at", ""))
    seq, by = _record_number(record), str(record.get("actor", ""))
    if by == EXTERNAL:
        yield Event(seq, "edit", at, path, by=by)
    elif found := _JOB.fullmatch(path):
        yield Event(seq, "job", at, path, job=found["id"], by=by)
    elif (found := _SESSION.fullmatch(path)) and record.get("op") == "append":
        yield Event(seq, "capture", at, path, session=found["id"], by=by)
