"""Derived files under .kimi/: how they are written, when it is worth it, read without searching."""

from __future__ import annotations

import ctypes
import gc
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kimi_memory.errors import HistoryError

_FEW = 64


def worth_writing(news: int, rows: int) -> bool:
    """Whether so many new rows of a file are worth writing all of it.

    To write ten thousand rows for a handful of new ones costs more than to find those again.
    """
    return news > max(_FEW, rows // 5)


def put(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Write a derived file under ``.kimi/``, whole or not at all.

    Args:
        path: the file.
        content: all of it.
        sync: whether it must be on disk when we return.

    Raises:
        HistoryError: it could not be written.
    """
    # A name of its own: two processes may write the same file at once, and the last one wins
    # whole.
    beside = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        # Where a file stands in the place of a folder, there is nothing to remove either.
        with suppress(OSError):
            beside.unlink()
        raise HistoryError(
            f"{path} could not be written: {error.strerror}. Free space or make it writable."
        ) from error


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
