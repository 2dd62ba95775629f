"""What one copy of a memory knew at a moment, and since when copies have what a line says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import AmbiguousIdError, HistoryError, NotFoundError
from kimi_memory.past.commit_graph import CommitGraph
from kimi_memory.store.copy import copy_of, known_copy, list_ids
from kimi_memory.store.git.head import head_at
from kimi_memory.store.git.history import History
from kimi_memory.store.store import Store

HERE = "here"
"""Stands for the copy that is asked."""


class Known(NamedTuple):
    """The commits that one copy made itself, oldest first, as places in the graph."""

    copy: str
    places: Sequence[int]


class Copies:
    """The copies that made the commits of one history.

    A copy's own commit says all that it knew then: the commit descends from what was merged there.

    Args:
        store: the files of the copy that is asked.
        history: its commits.
        folders: returns the folders on this machine that hold the memory, with their copies.
    """

    def __init__(
        self, store: Store, history: History, folders: Callable[[], Mapping[str, str]] = dict
    ) -> None:
        self._store, self._history, self._folders = store, history, folders

    @property
    def own(self) -> str:
        """The id of the copy that is asked; empty where it has none yet."""
        return known_copy(self._store)

    def name(self, copy: str) -> str:
        """Return what people call a copy: its folder here; empty for one of another machine."""
        if copy == self.own:
            return HERE
        return next((Path(at).name for at, one in self._folders().items() if one == copy), "")

    def list_known(self, graph: CommitGraph) -> list[Known]:
        """Return the copies that are known by a commit of theirs, in the order of their ids."""
        found: dict[str, list[int]] = {}
        # After a purge a copy has another id.
        mine = dict.fromkeys(list_ids(self._store), self.own)
        for commit in self._history.since():
            if (copy := copy_of(commit)) and commit.hash in graph.index:
                found.setdefault(mine.get(copy, copy), []).append(graph.index[commit.hash])
        return [Known(copy, sorted(found[copy])) for copy in sorted(found)]

    def newest_at(self, name: str, seconds: float, graph: CommitGraph) -> tuple[str, str]:
        """Return the id of a copy, and the commit that it had at a moment.

        Args:
            name: ``here``, an id or the beginning of one, or the name of a folder on this machine.
            seconds: the moment.
            graph: of the history.

        Raises:
            NotFoundError: no commit of such a copy is here.
            AmbiguousIdError: several begin so.
            HistoryError: it has no commit of so long ago.
        """
        found = self._find(name, self.list_known(graph))
        known = [place for place in found.places if graph.known[place] <= seconds]
        if found.copy == self.own:
            # What came by a pull without a commit of its own is in the log of this folder alone;
            # it tells what happened before a second, and dates of commits are whole ones.
            there = head_at(self._store.root / ".git", seconds + 1)
            known += [graph.index[there]] if there in graph.index else []
        if not known:
            raise HistoryError(
                f"Nothing is here of what copy {found.copy} knew so long ago. Name a later point, "
                "or ask without --copy."
            )
        return found.copy, graph.rows[max(known, key=lambda place: graph.versions[place])].commit

    def _find(self, name: str, known: Sequence[Known]) -> Known:
        ids = {name, *(one for at, one in self._folders().items() if Path(at).name == name)}
        ids |= {self.own} if name in (HERE, *list_ids(self._store)) and self.own else set()
        found = [one for one in known if one.copy in ids]
        found = found or [one for one in known if one.copy.startswith(name)]
        if not found and name == HERE:
            return Known(self.own, ())
        if not found:
            raise NotFoundError("copy", name)
        if len(found) > 1:
            raise AmbiguousIdError(name, [one.copy for one in found])
        return found[0]


def list_descendants(graph: CommitGraph, commit: str) -> set[int]:
    """Return the places of a commit and of all that descend from it."""
    first = graph.index[commit]
    found = {first}
    for place in range(first + 1, len(graph.rows)):
        if any(graph.index.get(one) in found for one in graph.rows[place].parents):
            found.add(place)
    return found
