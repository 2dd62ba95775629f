"""An engine that does not answer, said in one line to who asked for something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kimi_memory.domain.change_log import Unreachable
from kimi_memory.errors import RemoteError


@contextmanager
def name_silent_engine() -> Iterator[None]:
    """Raise an error for people where an engine does not answer.

    Raises:
        RemoteError: it does not; what was asked may have been done or not.
    """
    try:
        yield
    except Unreachable as error:
        name, _, why = str(error).partition(": ")
        remedy = "See whether it runs and the address is right, then retry"
        raise RemoteError(name, why.rstrip(" ?") or "it does not answer", remedy) from error
