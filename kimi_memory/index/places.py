"""Where the records of many keys are, in a tenth of the room a dictionary takes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

FEW = 4096
"""So many keys are held apart before they are put in order with the rest."""
SHARE = 8
"""Of many keys, one in so many may be held apart."""


class Places:
    """Numbers by key: a sorted array, and a dictionary of those that came since.

    Keys are known by their first eight bytes, so who reads a record sees to it that it is
    the one asked for: of two keys that begin alike, only the later is found.
    """

    def __init__(self) -> None:
        self._keys = np.empty(0, dtype=np.uint64)
        self._at = np.empty(0, dtype=np.uint32)
        self._fresh: dict[int, int] = {}

    def add(self, keys: Iterable[bytes], first: int = 0) -> None:
        """Number keys on from a number; one that is known takes the new number."""
        for at, key in enumerate(keys, first):
            self._fresh[_short_key(key)] = at
            if len(self._fresh) > max(FEW, len(self._keys) // SHARE):
                self._merge_fresh_keys()

    def get(self, key: bytes) -> int | None:
        """Return the number of a key, None where it has none."""
        short = _short_key(key)
        found = self._fresh.get(short)
        if found is not None or not len(self._keys):
            return found
        at = int(np.searchsorted(self._keys, np.uint64(short), side="right")) - 1
        return int(self._at[at]) if at >= 0 and int(self._keys[at]) == short else None

    def _merge_fresh_keys(self) -> None:
        """Put what came since in order with the rest, and what it replaces out."""
        count = len(self._fresh)
        fresh = np.fromiter(self._fresh.keys(), dtype=np.uint64, count=count)
        at = np.fromiter(self._fresh.values(), dtype=np.uint32, count=count)
        old = ~np.isin(self._keys, fresh)
        keys = np.concatenate([self._keys[old], fresh])
        # Once for many: keys are sorted anew when an eighth came, not with each.
        order = np.argsort(keys)
        self._keys, self._at = keys[order], np.concatenate([self._at[old], at])[order]
        self._fresh = {}


def _short_key(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")
