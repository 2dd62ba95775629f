"""Three-way merge of lines, as diff3 does it: https://www.cis.upenn.edu/~bcpierce/papers/diff3-short.pdf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

Lines = Sequence[str]


class Part(NamedTuple):
    """Lines that both sides agree on, or two versions that clash."""

    ours: Lines
    theirs: Lines | None = None
    """None where there is no clash."""


def diff3(base: Lines, ours: Lines, theirs: Lines) -> Iterator[Part]:
    """Yield the parts of the merged text, in order; equal sides give one part without a clash."""
    left, right = _match_lines(base, ours), _match_lines(base, theirs)
    at = at_left = at_right = 0
    ends = [(n, left[n], right[n]) for n in range(len(base)) if n in left and n in right]
    for end, end_left, end_right in [*ends, (len(base), len(ours), len(theirs))]:
        old, one, other = base[at:end], ours[at_left:end_left], theirs[at_right:end_right]
        if one in (old, other):
            yield Part(other)
        else:
            yield Part(one, None if other == old else other)
        yield Part(base[end : end + 1])
        at, at_left, at_right = end + 1, end_left + 1, end_right + 1


def merge_lines(base: Lines, ours: Lines, theirs: Lines) -> list[str] | None:
    """Return the merged lines; None where both sides changed the same place."""
    parts = list(diff3(base, ours, theirs))
    if any(part.theirs is not None for part in parts):
        return None
    return [line for part in parts for line in part.ours]


def keep_both(base: Lines, ours: Lines, theirs: Lines) -> list[str]:
    """Return the merged lines; where sides clash, both versions one after the other."""
    merged: list[str] = []
    for part in diff3(base, ours, theirs):
        if part.theirs is None:
            merged += part.ours
            continue
        # Lines that both versions of a clash have are written once.
        for both in diff3(common_lines(part.ours, part.theirs), part.ours, part.theirs):
            merged += both.ours if both.theirs is None else _in_order(both.ours, both.theirs)
    return merged


def _in_order(one: Lines, other: Lines) -> list[str]:
    return [line for version in sorted((list(one), list(other))) for line in version]


def _match_lines(base: Lines, side: Lines) -> dict[int, int]:
    """Return the places of the lines of the base that a side still has."""
    # By default lines that are frequent in a long text would not be matched at all.
    blocks = SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def common_lines(one: Lines, other: Lines) -> list[str]:
    """Return the lines that two versions share; the same whichever comes first."""
    # SequenceMatcher may match differently when its sides are swapped.
    first, second = sorted((list(one), list(other)))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    return [line for block in blocks for line in first[block.a : block.a + block.size]]
