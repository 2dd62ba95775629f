"""Signatures: what tells without reading it whether a file is still the one that was read."""

from __future__ import annotations

import os
from collections.abc import Mapping

Stat = tuple[int, int, int, int]
"""Size, modification and change time in ns, inode: equal means unchanged."""
Stats = Mapping[str, Stat]
"""How files look, by path."""
UNKNOWN: Stat = (-1, 0, 0, 0)
_COARSE_NS = 2_000_000_000
_FINE_NS = 50_000_000


def signature(found: os.stat_result) -> Stat:
    """Return what tells whether a file is still the one we read."""
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def settled(found: Stat, now_ns: int) -> Stat:
    """Return the signature if a later write would change it, else UNKNOWN.

    A write within the same tick of the file system's clock leaves no trace in it.
    Times in whole seconds come from file systems whose tick is long.
    """
    newest = max(found[1], found[2])
    tick = _FINE_NS if found[1] % 1_000_000_000 else _COARSE_NS
    return found if newest < now_ns - tick else UNKNOWN
