"""Questions about the past, with points as people write them."""

from __future__ import annotations

from kimi_memory.domain.past import BeliefDiff, BlameLine, TimelineEntry
from kimi_memory.errors import NotFoundError
from kimi_memory.past.beliefs import BeliefFilter, Sees, compare_beliefs
from kimi_memory.past.bisect import Flip, Wrong, find_flips
from kimi_memory.past.blame import Blame
from kimi_memory.past.blame_copies import add_copies
from kimi_memory.past.blame_now import add_now, add_signers
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader
from kimi_memory.past.timeline import list_states
from kimi_memory.store.git.signers import Signers


class PastQuestions:
    """What can be asked about the past of one memory; see the methods of `Memory`."""

    def __init__(self, reader: PastReader, signers: Signers) -> None:
        self._reader, self._signers = reader, signers

    def timeline(self, what: str, since: str, until: str, sees: Sees) -> list[TimelineEntry]:
        """Return every state of a note, or of all notes of a key."""
        first, last = self._find(since), self._find(until)
        return list_states(self._reader, what, since=first, until=last, sees=sees)

    def blame(self, what: str, field: str, at: str, sees: Sees, *, copies: bool) -> list[BlameLine]:
        """Return since when lines or a field say what they say, and in which copies."""
        blame = Blame(self._reader, sees)
        point, lines = _blame_at(blame, what, field, self._find(at))
        found = list(add_now(self._reader, lines, point, sees))
        found = add_signers(self._reader, found, self._signers)
        return list(add_copies(self._reader, blame, found, point)) if copies else found

    def beliefs(
        self, old: str, new: str, wanted: tuple[tuple[str, ...], str], *, why: bool
    ) -> BeliefDiff:
        """Return how the beliefs of two points differ, of some keys and a project."""
        first = self._reader.points.find(old)
        return compare_beliefs(self._reader, first, self._find(new), BeliefFilter(*wanted), why=why)

    def bisect(self, what: str, wrong: Wrong, good: str, bad: str) -> list[Flip]:
        """Return the versions at which what is looked for began, or ceased."""
        return find_flips(self._reader, what, wrong, self._find(good), self._find(bad))

    def _find(self, text: str) -> Point | None:
        return self._reader.points.find(text) if text else None


def _blame_at(
    blame: Blame, what: str, field: str, point: Point | None
) -> tuple[Point | None, list[BlameLine]]:
    """Return a point and where something in it comes from.

    Where copies had not met at the point, and only one of them had it, the point is what that
    one knew.
    """
    for commit in point.unmet if point is not None else ():
        try:
            return point, blame.find(what, field, point)
        except NotFoundError:
            point = point and point._replace(commit=commit)
    return point, blame.find(what, field, point)
