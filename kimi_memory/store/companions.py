"""Companions: what all who look at one store share for as long as it is open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Companions:
    """One object of each class; held by the store, so that all of them end with it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._found: dict[type, Any] = {}

    def find(self, kind: type[T], make: Callable[[], T]) -> T:
        """Return the one object of a class.

        Args:
            kind: the class.
            make: makes it where there is none yet.
        """
        with self._guard:
            if kind not in self._found:
                self._found[kind] = make()
            found: T = self._found[kind]
            return found
