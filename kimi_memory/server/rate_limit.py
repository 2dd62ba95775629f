"""Limits of requests: how many a second, how large, how many at once."""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections import Counter
from collections.abc import Callable
from functools import partial
from time import monotonic

from kimi_memory.errors import ServerError
from kimi_memory.lazy_dataclass import dataclass

# Who tries a new address each time must not fill the memory of the machine.
_MOST_KEYS = 10_000
HEAD_SECONDS = 10.0
"""So long the head of a request may take to arrive, from its first byte or the connection's."""
EACH_LINES, ALL_LINES = 200, 800
"""Most connections at once, of one address and of all; a process may have 1,024 files open."""
BODY_SECONDS = 30.0
"""So long the body of a request may take to arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one client may ask of the server."""

    body_bytes: int = 1024 * 1024
    per_second: float = 500.0
    """Requests a second for each token, twice as many at once; 0 for no limit."""
    streams: int = 32
    """Streams of events at once, of all clients."""
    waiting: int = 256
    """Requests that may wait for the memory, of all clients."""


class Lines:
    """Counts the connections that are open, of each client and of all.

    Half-open ones cost their sender next to nothing and us a descriptor each.
    """

    def __init__(self, each: int = EACH_LINES, every: int = ALL_LINES) -> None:
        self._each, self._every = each, every
        self._open: Counter[str] = Counter()

    def open_line(self, address: str) -> Line | None:
        """Count a connection; None where there are too many already."""
        if self._open[address] >= self._each or self._open.total() >= self._every:
            return None
        self._open[address] += 1
        return Line(partial(self._release_connection, address))

    def _release_connection(self, address: str) -> None:
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


class Line:
    """One connection, with the deadline of the head that is awaited on it."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._release_connection = leave
        self._deadline: TimerHandle | None = None

    def wait_for_head(
        self, loop: AbstractEventLoop, close: Callable[[], None], seconds: float
    ) -> None:
        """Close the connection unless the head of a request comes in time."""
        if self._deadline is None:
            self._deadline = loop.call_later(seconds, close)

    def head_came(self) -> None:
        """Wait for no head until the next one begins."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def leave(self) -> None:
        """End it."""
        self.head_came()
        self._release_connection()


class Pace:
    """Counts requests of each client; a client that is too fast has to wait.

    Args:
        per_second: requests a second, on average; 0 for no limit.
        clock: seconds that never go back.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._clock = per_second, clock
        self._left: dict[str, tuple[float, float]] = {}

    def count_request(self, key: str) -> None:
        """Count one request.

        Raises:
            ServerError: there were too many.
        """
        if self._rate <= 0:
            return
        # At least one: a rate far below one a second would never let a request in.
        now, most = self._clock(), max(1.0, 2 * self._rate)
        # A bucket that fills at the rate and holds two seconds of it (token bucket).
        left, at = self._left.pop(key, (most, now))
        left = min(most, left + (now - at) * self._rate)
        # Addresses can be made up without end, and each would be kept.
        if len(self._left) >= _MOST_KEYS:
            self._left.clear()
        self._left[key] = (left - 1.0 if left >= 1.0 else left, now)
        if left < 1.0:
            why = f"More than {self._rate:g} requests a second. Wait a moment, then retry."
            raise ServerError(why, status=429, code="too_many_requests")


def too_large(most: int) -> ServerError:
    """Return the error for a body above the limit."""
    return ServerError(
        f"The request is larger than {most} bytes. Send less at once.", status=413, code="too_large"
    )


def too_slow() -> ServerError:
    """Return the error for a request that does not arrive in time."""
    why = "The request did not arrive in time. Send it faster, or in parts."
    return ServerError(why, status=408, code="too_slow")


def busy() -> ServerError:
    """Return the error for a server with too much to do."""
    return ServerError(
        "Too many requests wait for this memory. Retry in a second.", status=503, code="busy"
    )
