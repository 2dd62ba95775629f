"""The graph of commits: the version of each, when it was known, and the line to the present.

A version is one more than the largest of the parents', so it needs no storage and is the
same in every copy. The line follows the parent with the largest version; each number
stands on it once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Sequence
from math import inf

from kimi_memory.store.git.read import GraphRow


class CommitGraph:
    """All commits of a history, parents before children.

    Args:
        rows: the commits; the last one is the head.
    """

    def __init__(self, rows: Sequence[GraphRow]) -> None:
        self.rows = rows
        self.index = {row.commit: number for number, row in enumerate(rows)}
        self._parents = [
            [self.index[one] for one in row.parents if one in self.index] for row in rows
        ]
        self.versions: list[int] = []
        for parents in self._parents:
            before = (self.versions[one] for one in parents)
            self.versions.append(1 + max(before, default=0))
        self.known = self._correct_clocks()
        """The moment of each commit, in seconds; never before that of a parent."""
        self.line = self._follow_line()
        """Commits from the first to the head; version N is number N - 1."""

    @property
    def head(self) -> str:
        """The current commit, empty for a history without any."""
        return self.rows[-1].commit if self.rows else ""

    def version(self, commit: str) -> int:
        """Return the version of a commit; 0 for one that the head does not descend from."""
        number = self.index.get(commit)
        return 0 if number is None else self.versions[number]

    def known_at(self, commit: str) -> float:
        """Return when a commit was known, in seconds; 0 for one that is not in the graph."""
        number = self.index.get(commit)
        return 0 if number is None else self.known[number]

    def newest_at(self, seconds: float) -> str:
        """Return the newest commit of the line that was known at a moment; empty for none."""
        known = [self.known[number] for number in self.line]
        found = bisect_right(known, seconds)
        return self.rows[self.line[found - 1]].commit if found else ""

    def unmet_at(self, seconds: float) -> list[str]:
        """Return the newest commits of a moment that the one of the line does not descend from."""
        known = [number for number, at in enumerate(self.known) if at <= seconds]
        followed = {parent for number in known for parent in self._parents[number]}
        line = self.newest_at(seconds)
        heads = (self.rows[number].commit for number in known if number not in followed)
        return [commit for commit in heads if commit != line]

    def numbered(self, version: int) -> str:
        """Return the commit of a version on the line; empty where there is none."""
        there = 1 <= version <= len(self.line)
        return self.rows[self.line[version - 1]].commit if there else ""

    def parents(self, commit: str) -> list[str]:
        """Return the commits that a commit followed, as far as they are here."""
        return [self.rows[one].commit for one in self._parents[self.index[commit]]]

    def branch(self, commit: str, known: set[int]) -> dict[int, str]:
        """Return the line to a commit since one of those that are known, by version.

        The known one is the first; empty where there is none.
        """
        number, found = self.index[commit], dict[int, str]()
        while number not in known:
            found[self.versions[number]] = self.rows[number].commit
            if not (parents := self._parents[number]):
                return {}
            number = max(parents, key=lambda one: self.versions[one])
        return found | {self.versions[number]: self.rows[number].commit}

    def follows(self, number: int, old: int) -> bool:
        """Whether the commit of a number descends from that of a lower one, or is it."""
        if len(self.line) == len(self.rows):
            return number >= old
        seen, waiting = set[int](), [number]
        while waiting:
            if (one := waiting.pop()) == old:
                return True
            # Parents stand before children: below the old one it cannot be found.
            if one > old and one not in seen:
                seen.add(one)
                waiting += self._parents[one]
        return False

    def known_to(self, commit: str) -> Container[int]:
        """Return the numbers of a commit and of all it descends from, as a set or a range."""
        # Where nothing ever forked, nothing need be followed.
        forked = len(self.line) < len(self.rows)
        return self.ancestors(commit) if forked else range(self.index[commit] + 1)

    def ancestors(self, commit: str) -> set[int]:
        """Return the numbers of a commit and of all it descends from."""
        found, waiting = set[int](), [self.index[commit]]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self._parents[number]
        return found

    def _follow_line(self) -> list[int]:
        if not self.rows:
            return []
        number = len(self.rows) - 1
        found = [number]
        while parents := self._parents[number]:
            number = max(parents, key=lambda one: self.versions[one])  # the first of equals
            found.append(number)
        return found[::-1]

    def _correct_clocks(self) -> list[float]:
        """Return the moment of each commit, with those of clocks that jumped put right.

        Whatever single clocks said, the longest row of dates in order is believed: one
        machine in 2030 or 1970 changes its own commits only.
        """
        sure = _longest_ascending([row.seconds for row in self.rows])
        # From the children back: no commit is later than a sure one that came after it.
        latest = [inf] * len(self.rows)
        for number in range(len(self.rows) - 1, -1, -1):
            bound = self.rows[number].seconds if number in sure else latest[number]
            for parent in self._parents[number]:
                latest[parent] = min(latest[parent], bound)
        found: list[float] = []
        for number, row in enumerate(self.rows):
            low = max((found[one] for one in self._parents[number]), default=-inf)
            found.append(max(low, min(row.seconds, latest[number])))
        return found


def _longest_ascending(dates: Sequence[int]) -> set[int]:
    """Return the places of a longest row of dates that never goes back."""
    # `tails` holds, for each length, the earliest date in which a row of that length can end
    # (patience sorting), so that histories of many thousand commits take no time.
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, date in enumerate(dates):
        at = bisect_right(tails, date)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [date]
        ends[at : at + 1] = [number]
    found, number = set[int](), ends[-1] if ends else -1
    while number >= 0:
        found.add(number)
        number = before[number]
    return found
