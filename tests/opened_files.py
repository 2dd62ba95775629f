"""Which files this process opens while a test watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_watching: list[list[str]] = []


def _listen(event: str, args: tuple[object, ...]) -> None:
    if event == "open":
        for names in _watching:
            names.append(str(args[0]))


# A hook of this sort cannot be taken away again, so there is one.
sys.addaudithook(_listen)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Yield a list that grows by the name of each file that is opened."""
    names: list[str] = []
    _watching.append(names)
    try:
        yield names
    finally:
        # By its identity: another list may hold the same names.
        _watching[:] = [one for one in _watching if one is not names]
