"""Garbage collection: switched off while many values are made, and memory given back."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected(*, lasting: bool = False) -> Iterator[None]:
    """Make values without searching them for cycles again and again.

    Reading the table of 10,000 notes takes a third of the time this way.

    Args:
        lasting: whether they stay as long as the process, so that no later search looks at them.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if lasting:
            gc.freeze()
        if running:
            gc.enable()


def give_back() -> None:
    """Give memory that is free back to the system, where its C library can do that.

    What a vector engine takes for itself comes on top of what the allocator keeps.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
