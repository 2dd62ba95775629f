"""Who asks: scopes say what they may do, a namespace says of what.

A namespace is enforced before anything is ranked or read, and every write is made in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePosixPath

from kimi_memory.errors import NotFoundError, ServerError
from kimi_memory.memory import Memory
from kimi_memory.model.session import Session
from kimi_memory.model.unit import Hit, Query
from kimi_memory.store import sessions


class Scope(StrEnum):
    """What a token may do; admin includes the others."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def denied(why: str) -> ServerError:
    """Return the error that says what a caller may not do."""
    return ServerError(why, status=403, code="forbidden")


@dataclass(frozen=True, slots=True)
class Namespace:
    """A project, an agent, or both; empty parts bind nothing."""

    project: str = ""
    agent: str = ""

    def __bool__(self) -> bool:
        return bool(self.project or self.agent)

    def within(self, project: str = "", agent: str = "") -> Namespace:
        """Return the namespace that a caller asks for, which is never a wider one.

        Raises:
            ServerError: it is another one.
        """
        asked = Namespace(project or self.project, agent or self.agent)
        if self and not self.covers(asked.project, asked.agent):
            raise denied("This token is bound to another project or agent. Leave both out.")
        return asked

    def covers(self, project: str, agent: str) -> bool:
        """Whether what has this project and agent lies in the namespace."""
        return self.project in ("", project) and self.agent in ("", agent)

    def holds(self, session: Session) -> bool:
        """Whether a session lies in it."""
        return self.covers(session.project, session.agent)

    def narrowed(self, query: Query) -> Query:
        """Return a query that finds nothing outside."""
        asked = self.within(query.project, query.agent)
        return replace(query, project=asked.project, agent=asked.agent)

    def shown(self, hit: Hit) -> Hit:
        """Return a hit without what it says of notes that may lie outside."""
        return replace(hit, related=()) if self else hit

    def holds_path(self, memory: Memory, path: str) -> bool:
        """Whether a file lies in it: all that it says has this project and agent."""
        if not self:
            return True
        if PurePosixPath(path).match("session_*.jsonl"):
            return self.holds(sessions.read(memory.store, path).session)
        with memory.index.guard:
            searcher = memory.index.searcher()
            rows = [row for row in searcher.living() if searcher.path(row) == path]
            projects, agents = searcher.column("project"), searcher.column("agent")
            return bool(rows) and all(self.covers(projects[row], agents[row]) for row in rows)

    def check_path(self, memory: Memory, path: str, asked: str) -> None:
        """Raise NotFoundError for what lies outside, as for what is not there."""
        if not self.holds_path(memory, path):
            raise NotFoundError("note or file", asked)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request."""

    name: str
    scopes: frozenset[Scope] = frozenset(Scope)
    space: Namespace = field(default_factory=Namespace)

    def may(self, scope: Scope) -> bool:
        """Whether a scope is granted."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def need(self, scope: Scope, *, whole: bool = False) -> None:
        """Raise ServerError unless the caller may do this, to the whole memory if need be."""
        if not self.may(scope):
            raise denied(f"This token has no scope '{scope}'. Ask its owner for another one.")
        if whole and self.space:
            raise denied("This concerns the whole memory, and this token is bound to a part.")
