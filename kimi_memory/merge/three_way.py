"""Three-way rules for single values, sets and tables.

None of them looks at which side is whose or at a clock: swapped sides give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
H = TypeVar("H", bound=Hashable)

Choose = Callable[[T, T], T]
"""Returns one of two values, whichever of them comes first."""


def pick(base: T | None, ours: T, theirs: T, choose: Choose[T]) -> T:
    """Return the value of the side that changed it; of two changes, the chosen one."""
    if theirs in (ours, base):
        return ours
    return theirs if ours == base else choose(ours, theirs)


def merge_sets(base: Iterable[H], ours: Iterable[H], theirs: Iterable[H]) -> tuple[H, ...]:
    """Return what both sides kept, in the order of the base, then what one added, sorted."""
    old, left, right = dict.fromkeys(base), set(ours), set(theirs)
    kept = [item for item in old if item in left and item in right]
    added = (left | right) - old.keys()
    return (*kept, *sorted(added, key=str))


def merge_tables(
    base: Mapping[K, T],
    ours: Mapping[K, T],
    theirs: Mapping[K, T],
    choose: Choose[T],
    *,
    revive: bool = True,
) -> dict[K, T]:
    """Return a table in which each entry is merged by itself.

    What one side removed is gone unless the other changed it; with `revive` off it is gone
    all the same. Entries stand in the order of the base, then new ones sorted by their keys.
    """
    added = sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)
    merged: dict[K, T] = {}
    for key in (*base, *added):
        old, left, right = base.get(key), ours.get(key), theirs.get(key)
        if left is not None and right is not None:
            merged[key] = pick(old, left, right, choose)
        elif revive or old is None:
            one = right if left is None else left
            if one is not None and one != old:
                merged[key] = one
    return merged
