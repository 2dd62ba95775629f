"""What a client can ask: each call as a request, and the type of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.operation_types import Commit, Waiting, Wanted
from kimi_memory.domain.past import BlameLine, TimelineEntry
from kimi_memory.domain.search_types import Answer, Context, Purpose, Query
from kimi_memory.domain.session import Session
from kimi_memory.formats.json_values import plain
from kimi_memory.server import responses

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One request."""

    method: Literal["GET", "POST"]
    path: str
    gives: Any
    """The type of the answer."""
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stated(self) -> dict[str, Any]:
        """What it says, without what is empty."""
        return {name: plain(value) for name, value in self.said.items() if not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    # Zero is not empty: the default of the server may be another number.
    return value is None or value is False or value in ("", ())


def search(query: str, limit: int, min_score: float) -> Ask[responses.Places]:
    """Ask the simple contract for lines."""
    said = {"query": query, "limit": limit, "minScore": min_score}
    return Ask("POST", "/search", responses.Places, said)


def read(path: str, start_line: int, end_line: int) -> Ask[responses.Piece]:
    """Ask the simple contract for a file."""
    said = {"path": path, "startLine": start_line, "endLine": end_line}
    return Ask("GET", "/get", responses.Piece, said)


def append(content: str, path: str, ref: str) -> Ask[responses.Kept]:
    """Ask the simple contract to keep some text."""
    return Ask("POST", "/append", responses.Kept, {"content": content, "path": path, "ref": ref})


Scopes = tuple[str, ...] | None
"""Private scopes; None for all that may be seen."""


def recall(query: Query | str, limit: int) -> Ask[Answer]:
    """Ask for the lines that answer a question."""
    if isinstance(query, str):
        return Ask("POST", "/v1/recall", Answer, {"query": query, "limit": limit})
    # How silent blocks are is the server's to say.
    said = {f.name: getattr(query, f.name) for f in fields(query) if f.name != "min_relevance"}
    said["within"] = _encode_scopes(query.within)
    return Ask("POST", "/v1/recall", Answer, {**said, "limit": limit or query.limit})


def context(
    purpose: Purpose, query: str, budget: int, session: str, within: Scopes, *, project: str = ""
) -> Ask[Context]:
    """Ask for a block of memory."""
    said = {"purpose": purpose, "query": query, "budget": budget, "session": session}
    said["project"] = project
    return Ask("POST", "/v1/context", Context, {**said, "within": _encode_scopes(within)})


def _encode_scopes(within: Scopes) -> Scopes:
    """Return private scopes as they are sent: None is left out, none at all is not."""
    # An empty list is left out of a request like None, and would then show everything.
    return ("",) if within == () else within


def get(what: str, first: int, lines: int) -> Ask[responses.Text]:
    """Ask for a note or a file."""
    said = {"what": what, "first": first, "lines": lines}
    return Ask("GET", "/v1/get", responses.Text, said)


def trace(id: str) -> Ask[responses.Origins]:
    """Ask where a note comes from."""
    return Ask("GET", "/v1/trace", responses.Origins, {"id": id})


def timeline(key: str, since: str, until: str) -> Ask[list[TimelineEntry]]:
    """Ask for the states of a note or a key."""
    path = f"/v1/timeline/{quote(key, safe='')}"
    return Ask("GET", path, list[TimelineEntry], {"since": since, "until": until})


def blame(id: str, field: str) -> Ask[list[BlameLine]]:
    """Ask since when a note says what it says."""
    return Ask("GET", f"/v1/blame/{quote(id, safe='')}", list[BlameLine], {"field": field})


def log(limit: int, path: str) -> Ask[list[Commit]]:
    """Ask for commits."""
    return Ask("GET", "/v1/log", list[Commit], {"limit": limit, "path": path})


def diff(old: str, new: str, path: str) -> Ask[responses.Difference]:
    """Ask what changed."""
    return Ask("GET", "/v1/diff", responses.Difference, {"old": old, "new": new, "path": path})


REVIEW: Ask[list[Waiting]] = Ask("GET", "/v1/review", list[Waiting])
CONFLICTS: Ask[list[responses.Quarrel]] = Ask("GET", "/v1/conflicts", list[responses.Quarrel])
STATUS: Ask[responses.State] = Ask("GET", "/v1/status", responses.State)
HEALTH: Ask[responses.Health] = Ask("GET", "/v1/health", responses.Health)
SESSIONS: Ask[responses.Sessions] = Ask("GET", "/v1/sessions", responses.Sessions)


def remember(said: Mapping[str, str]) -> Ask[JobReport]:
    """Ask to keep a statement."""
    return Ask("POST", "/v1/remember", JobReport, said)


def start(said: Mapping[str, str]) -> Ask[Session]:
    """Ask for a session."""
    return Ask("POST", "/v1/sessions", Session, said)


def turn(session: str, said: Mapping[str, Any]) -> Ask[responses.Stored]:
    """Ask to store a turn."""
    return Ask("POST", f"{_session_path(session)}/turns", responses.Stored, said)


def state(
    session: str, task: Mapping[str, Any] | None, variables: Mapping[str, Any] | None
) -> Ask[Session]:
    """Ask to record task or variables."""
    said = {"task": task, "variables": variables}
    return Ask("POST", f"{_session_path(session)}/state", Session, said)


def end(session: str) -> Ask[JobReport]:
    """Ask to end a session."""
    return Ask("POST", f"{_session_path(session)}/end", JobReport)


def _session_path(session: str) -> str:
    return f"/v1/sessions/{quote(session, safe='')}"


def distil(session: str, *, dry_run: bool) -> Ask[list[JobReport]]:
    """Ask to distil."""
    said = {"session": session, "dry_run": dry_run}
    return Ask("POST", "/v1/distil", list[JobReport], said)


def consolidate(period: str, day: date | None, *, dry_run: bool) -> Ask[list[JobReport]]:
    """Ask to run a job."""
    said = {"period": period, "day": day, "dry_run": dry_run}
    return Ask("POST", "/v1/consolidate", list[JobReport], said)


def undo(job: str) -> Ask[Job]:
    """Ask to take a job back."""
    return Ask("POST", "/v1/undo", Job, {"job": job})


def forget(wanted: Wanted, *, dry_run: bool) -> Ask[JobReport]:
    """Ask to archive notes."""
    said = {f.name: getattr(wanted, f.name) for f in fields(wanted)}
    return Ask("POST", "/v1/forget", JobReport, {**said, "dry_run": dry_run})
