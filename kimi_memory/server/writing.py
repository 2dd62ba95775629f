"""What can be written: turns, statements, jobs; each as the library does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.api.turn_capture import SessionHandle
from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.session import STATEMENTS, Session
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.forget import forget as archive
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.server.responses import Stored
from kimi_memory.server.schema import Given
from kimi_memory.store.notes import sessions

# Sessions that the memory opens by itself; a client could write into everybody's diary.
_OURS = ("diary-", STATEMENTS)


def remember(memory: Memory, caller: Caller, given: Given) -> JobReport:
    """Keep a statement in the caller's namespace; see `Memory.remember`."""
    space = caller.space.within(given["project"], given["agent"], given["user"])
    return memory.remember(
        given["text"],
        key=given["key"],
        type=given["type"],
        area=caller.space.area(memory, given["area"]),
        session=caller.space.session,
        **space.whose,
    )


def start(memory: Memory, caller: Caller, given: Given) -> Session:
    """Start a session in the caller's namespace, or go on with the open one of that id."""
    id = validate_session_id(memory, given["id"])
    space = caller.space.within(given["project"], given["agent"], given["user"], id)
    # A client bound to a session need not name it, and can start no other.
    id = id or space.session
    if id:
        caller.space.check_session(memory, id)
    handle = memory.session(
        id,
        host=given["host"] or "http",
        title=given["title"],
        area=caller.space.area(memory, given["area"]),
        **space.whose,
    )
    return handle.header


def validate_session_id(memory: Memory, id: str) -> str:
    """Return the id under which a session is stored, unless it is one that we give ourselves."""
    if id.startswith(_OURS) or sessions.split_part(id)[1] > 1:
        raise UsageError(f"{id[:200]!r} is an id that the memory gives by itself. Choose another.")
    return memory.screen.pass_id(id) if id else ""


def turn(memory: Memory, caller: Caller, given: Given) -> Stored:
    """Store one turn; it is durable when this is answered."""
    handle = _going_on(memory, caller, given["id"])
    said = {name: given[name] for name in ("speaker", "at", "ref")}
    stored = handle.turn(given["role"], given["text"], origin=given["origin"] or None, **said)
    # 0 is the number of no turn: nothing was new, which is no error to a client that repeats
    # itself.
    if stored is None:
        return Stored(handle.id, 0, durability=handle.durability)
    return Stored(handle.id, stored.n, stored.masked, stored.stripped, handle.durability)


def state(memory: Memory, caller: Caller, given: Given) -> Session:
    """Record the task or variables of a session."""
    task: Mapping[str, Any] | None = given["task"]
    handle = _going_on(memory, caller, given["id"])
    handle.state(task=task, variables=given["variables"])
    return handle.header


def end(memory: Memory, caller: Caller, given: Given) -> JobReport:
    """End a session: it is archived and distilled."""
    place, _ = _find_own_session(memory, caller, given["id"])
    return memory.end(place.id)


def _find_own_session(memory: Memory, caller: Caller, id: str) -> tuple[sessions.Place, Session]:
    """Return a session of the caller's namespace by its whole id."""
    place = sessions.find(memory.store, id)
    # Whose a damaged session is nobody knows, so to a bound caller it is as one that is missing.
    if place.id != id or not caller.space.strict.holds_path(memory, place.path):
        raise NotFoundError("session", id)
    return place, sessions.read(memory.store, place.path).session


def _going_on(memory: Memory, caller: Caller, id: str) -> SessionHandle:
    place, header = _find_own_session(memory, caller, id)
    names = ("agent", "user", "project", "host", "title")
    return memory.session(place.root, **{name: getattr(header, name) for name in names})


def distil(memory: Memory, caller: Caller, given: Given) -> list[JobReport]:
    """Distil one session, or all that wait."""
    id, dry_run = given["session"], given["dry_run"]
    return [memory.distil(id, dry_run=dry_run)] if id else memory.distil_waiting(dry_run=dry_run)


def consolidate(memory: Memory, caller: Caller, given: Given) -> list[JobReport]:
    """Distil what waits, then run a job over days or weeks."""
    dry_run = given["dry_run"]
    reports = [] if dry_run else memory.distil_waiting()
    return [*reports, *memory.consolidate(given["period"], given["day"], dry_run=dry_run)]


def undo(memory: Memory, caller: Caller, given: Given) -> Job:
    """Take a job back, byte for byte."""
    return memory.undo(given["job"])


def forget(memory: Memory, caller: Caller, given: Given) -> JobReport:
    """Archive notes so that they do not come back; what may be much needs admin."""
    wanted = Wanted(**{field.name: given[field.name] for field in fields(Wanted)})
    # A key, a query or a span of days may mean any number of notes.
    if wanted.broad:
        caller.need(Scope.ADMIN, whole=True)
    if caller.space:
        if not wanted.note:
            raise UsageError("A bound token forgets one note at a time: give 'note', its id.")
        caller.space.strict.filed(memory, wanted.note)
    return archive(memory, wanted, dry_run=given["dry_run"])
