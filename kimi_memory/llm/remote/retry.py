"""Patience with a server: retries with jitter, few calls at once, rest after failures."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from kimi_memory.errors import ModelError
from kimi_memory.lazy_dataclass import dataclass

A = TypeVar("A")
T = TypeVar("T")

# A server that is restarting is back soon; one that is overloaded gets doubled pauses.
FIRST_PAUSE_SECONDS = 0.5
# Longer than this, a person rather has the error.
LONGEST_PAUSE_SECONDS = 8.0
log = logging.getLogger("kimi_memory.llm.remote")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server is granted."""

    tries: int = 3
    """Calls until a passing failure counts as one."""
    at_once: int = 4
    """Most calls at the same time."""
    per_minute: int = 0
    """Most calls begun in a minute, evenly apart; any number if 0."""
    rest_after: int = 3
    """Failures in a row after which the server is left alone …"""
    rest_seconds: float = 60.0
    """… for so long."""


class Patience:
    """What one server is granted, shared by all threads of a process.

    Args:
        name: what the log calls the server.
        limits: how much.
        seed: makes the jitter repeatable.
        clock: monotonic seconds.
        pause: waits between tries.
    """

    def __init__(
        self,
        name: str,
        limits: Limits = Limits(),  # noqa: B008  a frozen value
        *,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name, self._limits = name, limits
        self._random = random.Random(seed)  # noqa: S311  jitter, no secret
        self._clock, self._pause = clock, pause
        # A local server answers one at a time; more would wait there until their time is over.
        self._slots = threading.BoundedSemaphore(limits.at_once)
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0
        self._next = 0.0
        """When the next call may begin."""

    def call(self, act: Callable[[], T]) -> T:
        """Return what `act` returns, tried again while its failure may pass.

        Raises:
            ModelError: it failed for good, or the server is being left alone.
        """
        self._refuse_while_resting()
        with self._slots:
            for attempt in range(1, self._limits.tries + 1):
                self._keep_pace()
                try:
                    found = act()
                except ModelError as error:
                    # A wrong key or an unknown model is wrong the next time, too.
                    if not error.passing or attempt == self._limits.tries:
                        self._record_failure(error)
                        raise
                    self._pause(self._choose_delay(attempt))
                else:
                    self._failures = 0
                    return found
        raise AssertionError("unreachable")

    def each(self, act: Callable[[A], T], parts: Sequence[A]) -> list[T]:
        """Return what `act` returns for each part, some of them at the same time.

        Raises:
            ModelError: one failed; those not begun yet are not asked any more.
        """
        if len(parts) < 2:
            return [self.call(partial(act, part)) for part in parts]
        # Threads and no event loop: plugins are plain functions, and so are the jobs that call
        # them.
        with ThreadPoolExecutor(max_workers=self._limits.at_once) as pool:
            asked = [pool.submit(self.call, partial(act, part)) for part in parts]
            try:
                return [each.result() for each in asked]
            except ModelError:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _refuse_while_resting(self) -> None:
        with self._lock:
            left = self._until - self._clock()
        if left > 0:
            raise ModelError(f"{self._name} failed repeatedly and is left alone for {left:.0f} s.")

    def _keep_pace(self) -> None:
        """Wait until a call may be made; calls of all threads take turns."""
        if not self._limits.per_minute:
            return
        with self._lock:
            now = self._clock()
            begin = max(now, self._next)
            # The turn is taken before waiting, so that threads which come together wait one behind
            # the other.
            self._next = begin + 60.0 / self._limits.per_minute
        if begin > now:
            self._pause(begin - now)

    def _record_failure(self, error: ModelError) -> None:
        with self._lock:
            self._failures += 1
            # Each call of a recall would otherwise wait as long for a server that is gone.
            if self._failures >= self._limits.rest_after:
                self._until = self._clock() + self._limits.rest_seconds
            # Once in the log: a server that is away for a night would fill it.
            first = self._failures == 1
        log.log(logging.WARNING if first else logging.DEBUG, "%s Rules and keywords go on.", error)

    def _choose_delay(self, attempt: int) -> float:
        """Return a random wait whose bound doubles: full jitter keeps clients apart."""
        bound = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        with self._lock:
            return self._random.uniform(0, bound)
