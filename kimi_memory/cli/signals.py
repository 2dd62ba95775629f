"""Ending a command that runs until it is stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event


@contextmanager
def until_signal() -> Iterator[Event]:
    """Give an event that SIGINT and SIGTERM set; who handled them before does so again after."""
    stop = Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    # A flag and no exception: a batch that is being indexed is finished first.
    before = [signal.signal(one, lambda *_: stop.set()) for one in signals]
    try:
        yield stop
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
