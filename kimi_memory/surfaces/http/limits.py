"""Limits of requests: how many a second, how large, how many at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from kimi_memory.errors import ServerError

_MOST_KEYS = 10_000
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


class Pace:
    """Counts requests of each client; who is too fast is told to wait.

    Args:
        per_second: requests a second, on average; 0 for no limit.
        clock: seconds that never go back.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._clock = per_second, clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Count one request.

        Raises:
            ServerError: there were too many.
        """
        if self._rate <= 0:
            return
        now, most = self._clock(), max(1.0, 2 * self._rate)
        left, at = self._left.pop(key, (most, now))
        left = min(most, left + (now - at) * self._rate)
        if len(self._left) >= _MOST_KEYS:
            self._left.clear()
        self._left[key] = (left - 1.0 if left >= 1.0 else left, now)
        if left < 1.0:
            raise ServerError(
                f"More than {self._rate:g} requests a second. Wait a moment, then retry.",
                status=429,
                code="too_many_requests",
            )


def too_large(most: int) -> ServerError:
    """Return the error for a body above the limit."""
    return ServerError(
        f"The request is larger than {most} bytes. Send less at once.",
        status=413,
        code="too_large",
    )


def busy() -> ServerError:
    """Return the error for a server with too much to do."""
    return ServerError(
        "Too many requests wait for this memory. Retry in a second.", status=503, code="busy"
    )
