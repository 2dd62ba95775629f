"""Results about texts that are asked for again: every distiller reads the same turns.

A session asks ten times what of each turn is its speaker's own, and each job weighs the lines
of the last sessions for MEMORY.md anew: without this, its end takes half as long again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST = 4096
"""A longer text is read anew each time, so that a server keeps no large ones."""
_Result = TypeVar("_Result")


def keep_results(most: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Keep the latest results of a pure function of one text; they must not be changed."""

    def kept(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        known = lru_cache(maxsize=most)(function)

        @wraps(function)
        def ask(text: str) -> _Result:
            return known(text) if len(text) <= LONGEST else function(text)

        return ask

    return kept
