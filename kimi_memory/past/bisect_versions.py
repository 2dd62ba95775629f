"""Bisecting versions: the one from which on a test of the whole memory fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise

from kimi_memory.domain.past import BeliefChange, Cause
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.past.beliefs import compare_beliefs
from kimi_memory.past.causes import find_commits
from kimi_memory.past.commit_graph import CommitGraph
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a test said of a version."""

    failed: bool | None
    """None where it could not tell."""
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionFlip:
    """A version at which a test began to fail, or to pass."""

    begins: bool
    """Whether it fails from here on."""
    cause: Cause
    why: tuple[str, ...]
    """What the test said."""
    before_version: int
    """The last version tested before; further back than one where those between tell nothing."""
    changes: tuple[BeliefChange, ...] = ()
    """What cards say otherwise since that version."""


Judge = Callable[[Point], Verdict]


def find_version_flips(
    reader: PastReader,
    judge: Judge,
    good: Point | None = None,
    bad: Point | None = None,
    *,
    every: bool = False,
) -> list[VersionFlip]:
    """Return where a test began to fail; empty where it does not fail, or always did.

    The search halves what is left between a version that passes and one that fails, so it tests
    few of them. The find is a real change, though not the only one where the test failed and
    passed in turns. Where a merge brought it from another copy, it is searched for there.

    Args:
        reader: of the memory.
        judge: the test.
        good: a version that passes; found by going back from the other if None.
        bad: a version that fails; the last commit if None.
        every: test each version, and return every change.

    Raises:
        UsageError: a point that was given is not what it was given as, or is on no line.
    """
    graph = reader.points.graph()
    first, last = good.version if good else 1, bad.version if bad else len(graph.line)
    if not (good is None or first) or not last or first > last:
        raise UsageError("The good point has to come before the bad one, on one line of versions.")

    @cache
    def ask(commit: str) -> Verdict:
        return judge(reader.points.find_by_commit(commit))

    line = {version: graph.numbered(version) for version in range(first, last + 1)}
    test = partial(_test, ask, line)
    if every:
        return [_make_flip(reader, line, ask, pair) for pair in _yield_changes(test, first, last)]
    pairs = _halve(test, first, last, given=good is not None)
    return [_make_flip(reader, *_follow_merges(graph, ask, line, pair)) for pair in pairs]


Ask = Callable[[str], Verdict]
Tested = Callable[[int], Verdict]
Line = Mapping[int, str]
"""Commits that follow each other, by version."""


def _test(ask: Ask, line: Line, version: int) -> Verdict:
    return ask(line[version])


def _follow_merges(
    graph: CommitGraph, ask: Ask, line: Line, pair: tuple[int, int]
) -> tuple[Line, Ask, tuple[int, int]]:
    """Return the line on which a test began to fail, and the versions between which it did."""
    while side := _find_side(graph, ask, line, pair):
        found = _halve(partial(_test, ask, side), min(side), max(side), given=True)
        line, pair = side, found[0]
    return line, ask, pair


def _find_side(graph: CommitGraph, ask: Ask, line: Line, pair: tuple[int, int]) -> Line:
    """Return the line of the copy that a merge brought a failure from; empty where none did."""
    before, after = pair
    # Between them may lie versions of which the test tells nothing.
    if after - before > 1:
        return {}
    known = graph.ancestors(line[before])
    for other in graph.parents(line[after]):
        side = graph.branch(other, known)
        if len(side) > 1 and ask(other).failed and ask(side[min(side)]).failed is False:
            return side
    return {}


def _yield_changes(test: Tested, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of versions between which the test changed its mind."""
    judged = [version for version in range(first, last + 1) if test(version).failed is not None]
    for before, after in pairwise(judged):
        if test(before).failed is not test(after).failed:
            yield before, after


def _halve(test: Tested, first: int, last: int, *, given: bool) -> list[tuple[int, int]]:
    """Return the pair of versions between which the test began to fail, if there is one."""
    if test(last).failed is None:
        raise UsageError(f"The test tells nothing of v{last}. Name another one with --bad.")
    if not test(last).failed:
        return []
    bad, passing = last, _find_passing(test, first, last, given=given)
    if not passing:
        return []
    while (between := range(passing + 1, bad)) and (found := _find_judged(test, between)):
        if test(found).failed:
            bad = found
        else:
            passing = found
    return [(passing, bad)]


def _find_passing(test: Tested, first: int, last: int, *, given: bool) -> int:
    """Return a version that passes, 0 for none: the one that was given, or the next one back."""
    if given:
        if test(first).failed is not False:
            raise UsageError(f"The test does not pass at v{first}. Name another one with --good.")
        return first
    step = 1
    while last - step > first:
        if test(last - step).failed is False:
            return last - step
        step *= 2
    return first if test(first).failed is False else 0


def _find_judged(test: Tested, between: range) -> int:
    """Return the version nearest to the middle that the test can tell something of; 0 for none."""
    middle = (between.start + between.stop) // 2
    near = sorted(between, key=lambda version: abs(version - middle))
    return next((version for version in near if test(version).failed is not None), 0)


def _make_flip(reader: PastReader, line: Line, ask: Ask, pair: tuple[int, int]) -> VersionFlip:
    before, after = pair
    verdict = ask(line[after])
    [cause] = find_commits(reader, [line[after]])
    old, new = (reader.points.find_by_commit(line[one]) for one in pair)
    changes = compare_beliefs(reader, old, new).changes
    return VersionFlip(bool(verdict.failed), cause, verdict.why, before, changes)
