"""The past as callers see it: states and origins of the notes that lie in their namespace."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.past import BlameLine, Cause, Earlier, Since, TimelineEntry
from kimi_memory.errors import NotFoundError
from kimi_memory.server.principal import Namespace
from kimi_memory.store.notes.notes import Shelf


def timeline_of(
    memory: Memory, space: Namespace, what: str, since: str = "", until: str = ""
) -> list[TimelineEntry]:
    """Return the states of a note or a key that lie in a namespace; see `Memory.timeline`.

    Raises:
        NotFoundError: there is none in it.
        ServerError: it is bound, and a point is named as somebody called it.
    """
    space.check_points(memory, since, until)
    found = memory.timeline(what, since=since, until=until, sees=space.sees)
    if not space:
        return found
    # What became private since then is private in the past, too.
    entries = Shelf(memory.store).entries()
    paths = {one.note: entries[one.note].path for one in found if one.note in entries}
    found = [
        one for one in found if one.note not in paths or space.holds_path(memory, paths[one.note])
    ]
    if not found:
        raise NotFoundError("note or key", what)
    return [replace(one, cause=_bare(one.cause), sources=()) for one in found]


def blame_of(memory: Memory, space: Namespace, id: str, field: str = "") -> list[BlameLine]:
    """Return since when a note says what it says; see `Memory.blame`.

    Raises:
        NotFoundError: there is no such note in the namespace.
    """
    note = space.filed(memory, id).note.id
    found = memory.blame(note, field=field, sees=space.sees)
    return [_narrow_line(memory, space, one) for one in found] if space else found


def _narrow_line(memory: Memory, space: Namespace, line: BlameLine) -> BlameLine:
    """Return a line without turns and jobs that may lie outside."""
    turns = (one for one in line.turns if one.path and space.holds_path(memory, one.path))
    before = (Earlier(one.says, _bare(one.cause)) for one in line.before)
    cause = _bare(line.cause) if line.cause else None
    # The note in its place may lie outside.
    now = Since(line.now.change, line.now.at) if line.now else None
    return replace(line, cause=cause, turns=tuple(turns), before=tuple(before), now=now, signer="")


def _bare(cause: Cause) -> Cause:
    """Return when something was known, and nothing of who changed it."""
    return Cause("", cause.version, cause.at)
