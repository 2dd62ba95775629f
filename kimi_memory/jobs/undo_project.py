"""Taking one job's lines off a project's page that later jobs, or people, went on with."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from kimi_memory.domain.pages import Project
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode

_LISTS = ("state", "todos", "decisions", "risks", "preferences", "progress")
FOLDER = "mid-term/projects/"
T = TypeVar("T")


def take_back(path: str, before: bytes, after: bytes, now: bytes) -> bytes | None:
    """Return a project's page as it is, without what one job changed; None where nobody can tell.

    Args:
        path: the page.
        before: its bytes before the job, empty where the job made it.
        after: its bytes after the job.
        now: its bytes as they are.
    """
    if not path.startswith(FOLDER) or not now:
        return None
    try:
        old = _parse_project(before, path) if before else None
        made, text = _parse_project(after, path), decode(now, path)
        mine = codec.parse(text, path)
    except FormatError:
        return None
    if made is None or not isinstance(mine, Project):
        return None
    blank = {name: () for name in _LISTS}
    old = old or replace(made, goal="", **blank)  # type: ignore[arg-type]  # lists, all of them
    new = replace(
        mine,
        # A goal that somebody wrote since stays.
        goal=old.goal if mine.goal == made.goal else mine.goal,
        state=_revert_lines(mine.state, made.state, old.state),
        todos=_revert_lines(mine.todos, made.todos, old.todos),
        decisions=_revert_lines(mine.decisions, made.decisions, old.decisions),
        risks=_revert_lines(mine.risks, made.risks, old.risks),
        preferences=_revert_lines(mine.preferences, made.preferences, old.preferences),
        progress=_revert_lines(mine.progress, made.progress, old.progress),
    )
    return codec.patch(text, mine, new, path).encode()


def _parse_project(content: bytes, path: str) -> Project | None:
    note = codec.parse(decode(content, path), path)
    return note if isinstance(note, Project) else None


def _revert_lines(mine: tuple[T, ...], made: tuple[T, ...], old: tuple[T, ...]) -> tuple[T, ...]:
    """Return lines without those that a job added, with those that it took out."""
    kept = [line for line in mine if line not in made or line in old]
    return (*kept, *(line for line in old if line not in made and line not in kept))
