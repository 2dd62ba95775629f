"""Names for versions, and the list of versions that a person looks for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.past.points import Point, Points
from kimi_memory.store.git.history import History

LANDMARKS = frozenset({"daily", "weekly", "merge", "rollback", "migrate", "init", "import"})
"""Kinds of commits that are listed though they have no name."""


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """One state of the memory, as `versions` lists it."""

    version: int
    at: datetime
    """When it was known."""
    commit: str
    names: tuple[str, ...]
    kind: str
    job: str
    subject: str


def list_versions(
    history: History, points: Points, *, limit: int = 20, every: bool = False
) -> list[NamedVersion]:
    """Return versions, newest first: those with a name and the landmarks, or every one.

    Args:
        history: of the memory.
        points: of the same.
        limit: most versions; 0 for all.
        every: whether to leave none out.
    """
    found = list(_yield_versions(history, points, every=every))
    return found[:limit] if limit else found


def _yield_versions(history: History, points: Points, *, every: bool) -> Iterator[NamedVersion]:
    named: dict[str, list[str]] = {}
    for name, target in history.names().items():
        named.setdefault(target, []).append(name)
    commits = {one.hash: one for one in history.since()}
    for row in reversed(points.graph().rows):
        commit, names = commits[row.commit], named.get(row.commit, [])
        kind = commit.trailers.get("Kind", "")
        if every or names or kind in LANDMARKS:
            point, job = points.find_by_commit(row.commit), commit.trailers.get("Job", "")
            yield NamedVersion(
                point.version, point.known, row.commit, tuple(names), kind, job, commit.subject
            )


def add_name(history: History, points: Points, name: str, text: str = "HEAD") -> Point:
    """Give a point in the history a name, which stands until it is removed.

    Raises:
        UsageError: the name is taken, or means something already.
    """
    point = points.find(text)
    if name in history.names():
        remedy = f"Take it away with 'kimi-memory name --remove {name}', or choose another."
        raise UsageError(f"There is a version named {name!r}. {remedy}")
    if means_point(points, name):
        raise UsageError(f"{name!r} means a point already. Choose a name such as before-the-move.")
    history.set_name(name, point.commit)
    return point


def means_point(points: Points, name: str) -> bool:
    """Whether a text means a point without being a name, as 2026-03 does: a name would hide it."""
    # Also a date before the history, and a version that is still to come.
    if points.is_counted(name):
        return True
    try:
        points.find(name)
    except KimiMemoryError:
        return False
    return True


def remove_name(history: History, name: str) -> None:
    """Take a name away; the version itself stays.

    Raises:
        UsageError: there is no such name.
    """
    if name not in history.names():
        raise UsageError(f"No version is named {name!r}. List names with 'kimi-memory versions'.")
    history.set_name(name, "")
