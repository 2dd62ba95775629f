"""Points in the history: a date, a commit, a version, a name, a job, or what was before it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from kimi_memory.errors import AmbiguousIdError, HistoryError, NotFoundError, UsageError
from kimi_memory.nlp.dates.ranges import period
from kimi_memory.past.commit_graph import CommitGraph
from kimi_memory.past.copies import HERE, Copies
from kimi_memory.store.git.history import Commit, History
from kimi_memory.store.git.read import GraphRow

_VERSION = re.compile(r"[vV](\d{1,9})")
_JOB = re.compile(r"[a-z][a-z-]*-[0-9a-f]{4,64}")
# Git shortens a hash to four characters at least.
_COMMIT = re.compile(r"[0-9a-f]{4,40}")
_UNGUESSED = re.compile(r"[0-9a-f]{10,40}")
_COUNT = re.compile(r"[1-9]\d{0,6}")
_OF_COPY = "@{"
"""As git writes it: ``here@{yesterday}`` is what this copy knew yesterday."""
_HEADS = ("HEAD", "head")
FORMS = "a date (2026-02-27, 'last week'), a commit, a version (v12), a name or a job's id"


class Point(NamedTuple):
    """One state of the memory in its history."""

    commit: str
    version: int
    """0 where the current commit does not descend from it."""
    known: datetime
    """When this state was known: the moment of its commit, put right where a clock jumped."""
    moment: datetime
    """The moment that was asked for; that of the commit where one was named."""
    copy: str = ""
    """The copy whose knowledge it is; empty for that of all."""
    unmet: tuple[str, ...] = ()
    """The newest commits of copies that this one had not met at that moment."""

    @property
    def short(self) -> str:
        """The commit as people write it."""
        return self.commit[:10]


class Points:
    """Finds points in one history."""

    def __init__(self, history: History, clock: Callable[[], datetime], copies: Copies) -> None:
        self._history, self._clock, self.copies = history, clock, copies
        self._graph = CommitGraph(())

    @property
    def zone(self) -> tzinfo:
        """The clocks on which moments are shown."""
        return self._clock().tzinfo or UTC

    def graph(self) -> CommitGraph:
        """Return the graph of the commits there are now.

        Raises:
            HistoryError: there is no history, or nothing in it.
        """
        known = self._graph.head
        if not known or self._history.head() != known:
            self._graph = CommitGraph(self._list_rows())
        if not self._graph.head:
            raise HistoryError("The history is empty. Keep something first, then look back.")
        return self._graph

    def _list_rows(self) -> list[GraphRow]:
        """Return the rows of the graph; where commits only followed, none is listed again."""
        known = list(self._graph.rows)
        if known:
            new = self._history.graph(since=known[-1].commit)
            before = [known[-1].commit, *(row.commit for row in new)]
            if new and all(a.parents == (b,) for a, b in zip(new, before, strict=False)):
                return [*known, *new]
        return self._history.graph()

    def find(self, text: str) -> Point:
        """Return the point that a text names.

        Raises:
            UsageError: it names none; what can be written is said.
            HistoryError: there is no history, or it begins later.
        """
        wanted, graph = text.strip(), self.graph()
        if wanted == "now":
            return self.at(self._clock())
        if _OF_COPY in wanted:
            return self._find_of_copy(wanted, graph)
        start, before = _split_steps(wanted)
        commit = self._find_commit(start, graph)
        if commit and before:
            commit = self._find_earlier(commit, before, wanted)
        if commit:
            return self._make_point(commit, graph)
        found = None if before else period(wanted, self._clock())
        if found is None:
            raise _no_point(text)
        # A period ends where the next one begins; the moment before is the last of its own.
        last = timedelta.resolution if found.end > found.start else timedelta()
        return self.at(found.end - last)

    def is_counted(self, text: str) -> bool:
        """Whether a text names a point by date, version or commit, not as it was called."""
        wanted, _ = _split_steps(text.strip())
        if _OF_COPY in wanted:
            return False
        if wanted in (*_HEADS, "now") or _VERSION.fullmatch(wanted):
            return True
        # Fewer letters of a commit could be tried one by one.
        return bool(_UNGUESSED.fullmatch(wanted)) or period(wanted, self._clock()) is not None

    def at(self, moment: datetime) -> Point:
        """Return the point that was the present at a moment.

        Raises:
            HistoryError: there is no history, or it begins later.
        """
        graph = self.graph()
        commit = graph.newest_at(moment.timestamp())
        # The head may bear a later date, from a clock that was ahead.
        if moment >= self._clock():
            commit = graph.head
        if not commit:
            first = self._make_point(graph.numbered(1), graph)
            raise HistoryError(
                f"The history begins at {first.known:%Y-%m-%d %H:%M} (v1), after "
                f"{moment:%Y-%m-%d %H:%M}. Name a later point."
            )
        unmet = () if commit == graph.head else graph.unmet_at(moment.timestamp())
        return self._make_point(commit, graph)._replace(moment=moment, unmet=tuple(unmet))

    def is_present(self, point: Point) -> bool:
        """Whether a point is the present, with what is not committed yet."""
        if point.copy:
            return False
        return point.commit == self.graph().head and point.moment >= self._clock()

    def find_by_commit(self, commit: str) -> Point:
        """Return the point of a commit."""
        return self._make_point(commit, self.graph())

    def _find_of_copy(self, text: str, graph: CommitGraph) -> Point:
        """Return what one copy knew at the moment of a point."""
        name, _, when = text.partition(_OF_COPY)
        if not name or not when.endswith("}") or _OF_COPY in when:
            raise _no_point(text)
        point = self.find(when[:-1])
        if name == HERE and point.moment >= self._clock():
            copy, commit = self.copies.own, graph.head
        else:
            copy, commit = self.copies.newest_at(name, point.moment.timestamp(), graph)
        return self._make_point(commit, graph)._replace(moment=point.moment, copy=copy)

    def _find_commit(self, text: str, graph: CommitGraph) -> str:
        """Return the commit that a text names; empty where it may be a date."""
        if text in _HEADS:
            return graph.head
        if version := _VERSION.fullmatch(text):
            found = graph.numbered(int(version[1]))
            if not found:
                raise UsageError(f"There is no {text}; the last version is v{len(graph.line)}.")
            return found
        # A person's own name comes before what merely looks like a job or a commit.
        if named := self._history.names().get(text):
            return named
        if _JOB.fullmatch(text):
            return self._find_job(text)
        return self._find_hash(text) if _COMMIT.fullmatch(text) else ""

    def _find_hash(self, text: str) -> str:
        try:
            return self._history.resolve(text)
        except HistoryError:
            if len(text) == 40:
                raise
            return ""  # It may be a date, such as 20260227.

    def _find_job(self, id: str) -> str:
        exact = self._history.find("Job", id)
        if exact is not None:
            return exact.hash
        near = [one for one in self._history.since() if _job_of(one).startswith(id)]
        jobs = sorted(set(map(_job_of, near)))
        if not jobs:
            raise NotFoundError("job", id)
        if len(jobs) > 1:
            raise AmbiguousIdError(id, jobs)
        return near[0].hash

    def _find_earlier(self, commit: str, steps: int, text: str) -> str:
        try:
            return self._history.resolve(f"{commit}~{steps}")
        except HistoryError:
            raise UsageError(f"{text}: nothing was before the first commit.") from None

    def _make_point(self, commit: str, graph: CommitGraph) -> Point:
        if commit not in graph.index:  # on a branch that was not merged
            graph = CommitGraph(self._history.graph(commit))
            return self._make_point(commit, graph)._replace(version=0)
        known = datetime.fromtimestamp(graph.known_at(commit), self.zone)
        return Point(commit, graph.version(commit), known, known)


def _split_steps(text: str) -> tuple[str, int]:
    """Return a point and how many commits before it are meant, as git writes it: v7^, HEAD~2."""
    # By hand: a pattern for it takes quadratic time on a row of carets.
    start = text.rstrip("^")
    if start and start != text:
        return start, len(text) - len(start)
    start, sign, count = text.rpartition("~")
    if start and sign and (not count or _COUNT.fullmatch(count)):
        return start, int(count or 1)
    return text, 0


def _no_point(text: str) -> UsageError:
    return UsageError(f"{text[:60]!r} is no point in the history. Write {FORMS}.")


def _job_of(commit: Commit) -> str:
    return commit.trailers.get("Job", "")
