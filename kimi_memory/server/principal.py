"""The principal of a request: its scopes say what it may do, its namespace with which notes.

A namespace is enforced before anything is ranked or read, and every write is made in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import field, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Note, Origin
from kimi_memory.domain.search_types import Context, Hit, Query
from kimi_memory.domain.session import (
    AREAS,
    SHARED,
    Session,
    named,
    owned,
    root_of,
    scope_of,
    visible,
)
from kimi_memory.errors import FormatError, NotFoundError, ServerError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Filed, Shelf

_TOLD = ("project", "agent", "user", "session", "scope")


class Scope(StrEnum):
    """What a token may do; admin includes read and write."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    PERSON = "person"
    """Sit down at the pages as the person who decides; nothing over the API."""


def denied(why: str) -> ServerError:
    """Return the error that says what a caller may not do."""
    return ServerError(why, status=403, code="forbidden")


@dataclass(frozen=True, slots=True)
class Namespace:
    """A project, an agent, a user, a session, or several of them; empty parts bind nothing.

    What is private to somebody else is never in it, whatever it is bound to.
    """

    project: str = ""
    agent: str = ""
    user: str = ""
    session: str = ""
    """Root id of a session."""
    shared: bool = False
    """Whether what is shared is seen, too, whichever agent or user it was said by."""

    def __bool__(self) -> bool:
        return any(self._namespace_parts)

    @property
    def _namespace_parts(self) -> tuple[str, str, str, str]:
        return self.project, self.agent, self.user, self.session

    # Blank names bind nothing, so they must not open the scope of a nameless owner either.
    @property
    def own(self) -> tuple[str, ...]:
        """The private scopes that may be seen."""
        areas = (("agent", self.agent), ("user", self.user), ("session", self.session))
        return tuple(named(area, name) for area, name in areas if name.strip())

    @property
    def whose(self) -> dict[str, str]:
        """Project, agent and user, as a session or a statement gets them."""
        return {"project": self.project, "agent": self.agent, "user": self.user}

    @property
    def strict(self) -> Namespace:
        """The namespace in which is written: without what is shared by others."""
        return replace(self, shared=False)

    def within(
        self, project: str = "", agent: str = "", user: str = "", session: str = ""
    ) -> Namespace:
        """Return the namespace that a caller asks for, which is never a wider one.

        Raises:
            ServerError: it is another one.
        """
        asked = (project, agent, user, session)
        # What a bound caller leaves out is its own; what it names must be the same.
        wanted = [one or mine for one, mine in zip(asked, self._namespace_parts, strict=True)]
        if any(
            mine not in ("", one) for one, mine in zip(wanted, self._namespace_parts, strict=True)
        ):
            raise denied(
                "This token is bound to another project or agent, user or session. Leave them out."
            )
        project, agent, user, session = wanted
        return Namespace(project, agent, user, session, self.shared)

    def area(self, memory: Memory, asked: str) -> str:
        """Return the area of what a caller writes: one that is its own, or none.

        Raises:
            ServerError: it is somebody else's.
        """
        own = {"agent": self.agent, "user": self.user, "session": self.session}
        if self and asked in AREAS and not own[asked]:
            raise denied(f"This token is bound to no {asked}, so that area is not its own.")
        fresh = self.session and not sessions.parts(memory.store, self.session)
        return asked or ("session" if fresh else "")

    def covers(self, project: str, agent: str, user: str, session: str, scope: str) -> bool:
        """Whether what has these lies in the namespace."""
        bound = [(self.project, project)]
        # What is shared is seen whichever agent or user said it; private scopes are checked apart.
        bound += [] if self.shared else [(self.agent, agent), (self.user, user)]
        if self.session and scope != named("session", self.session):
            bound.append((self.session, session))
        seen = not self or visible(scope, self.own)
        return seen and all(mine in ("", one) for mine, one in bound)

    def holds(self, session: Session) -> bool:
        """Whether a session lies in it."""
        of = (session.project, session.agent, session.user, root_of(session))
        return self.covers(*of, scope_of(session))

    def sees(self, note: Note) -> bool:
        """Whether a note lies in it, by what the note itself says."""
        owner = owned(str(getattr(note, "scope", "")))
        project = str(getattr(note, "project", ""))
        return self.covers(project, owner["agent"], owner["user"], "", owner["scope"])

    def narrowed(self, query: Query) -> Query:
        """Return a query that finds nothing outside.

        Raises:
            ServerError: it asks for what lies outside.
        """
        if not self:
            return query
        asked = self.within(query.project, query.agent, query.user)
        strangers = set(query.within or ()) - {SHARED, *self.own}
        if strangers or (self.session and set(query.session) - {self.session}):
            raise denied("This token is bound to another session or area. Leave it out.")
        return replace(
            query,
            project=asked.project,
            agent=query.agent if self.shared else asked.agent,
            user=query.user if self.shared else asked.user,
            session=(self.session,) if self.session else query.session,
            within=self.own if query.within is None else query.within,
        )

    def check_points(self, memory: Memory, *points: str) -> None:
        """Refuse points in the past by names and jobs, which tell what happens outside.

        Raises:
            ServerError: one is named so, whether it is there or not.
        """
        if self and not all(memory.points.is_counted(one) for one in points if one):
            raise denied("This token is bound to a part: name a date or a version such as v12.")

    def context(self, memory: Memory, given: Mapping[str, Any]) -> Context:
        """Return the block that `Memory.context` makes, of nothing but what lies in it.

        Raises:
            ServerError: it asks for what lies outside.
        """
        if not self:
            return memory.context(**given)
        self.within(given.get("project", ""), session=given.get("session", ""))
        self.check_points(memory, given.get("as_of", ""))
        narrowed = self.narrowed(Query(text="", within=given.get("within")))
        bound = {"within": narrowed.within, "narrowed": self.narrowed}
        return memory.context(**{**given, **bound})

    def shown(self, hit: Hit) -> Hit:
        """Return a hit without what it says of notes that may lie outside."""
        return replace(hit, related=()) if self and hit.related else hit

    def holds_path(self, memory: Memory, path: str) -> bool:
        """Whether a file lies in it: all that it says has what this is bound to."""
        if not self:
            return True
        if PurePosixPath(path).match("session_*.jsonl"):
            try:
                return self.holds(sessions.read(memory.store, path).session)
            except FormatError:
                return False  # Nobody knows whose it is.
        # A page may show cards of several owners: all of its rows must lie inside, or it does not.
        return path in self._filter_paths_inside(memory, {path})

    def _filter_paths_inside(self, memory: Memory, paths: Set[str]) -> set[str]:
        """Return those files whose whole text lies in it."""
        with memory.index.guard:
            searcher = memory.index.searcher()
            columns = [searcher.column(name) for name in _TOLD]
            rows = [
                (row, path) for row in searcher.living() if (path := searcher.path(row)) in paths
            ]
            outside = {p for row, p in rows if not self.covers(*(c[row] for c in columns))}
            return {path for _, path in rows} - outside

    def check_session(self, memory: Memory, id: str) -> list[sessions.Place]:
        """Return the parts of a session; raise ServerError where it is somebody else's."""
        places = sessions.parts(memory.store, id)
        if not all(self.strict.holds_path(memory, place.path) for place in places):
            raise denied("A session of that id belongs to somebody else. Choose another id.")
        return places

    def check_path(self, memory: Memory, path: str, asked: str) -> None:
        """Raise NotFoundError for what lies outside, as for what is not there."""
        if not self.holds_path(memory, path):
            raise NotFoundError("note or file", asked)

    def cite_turn(self, memory: Memory, what: str) -> str:
        """Return path and line of a turn such as ``session:s1#2``; anything else as it is.

        Raises:
            NotFoundError: there is no such turn, or it lies outside.
        """
        cited = sessions.cite_turn(memory.store, what)
        if cited != what:
            self.check_path(memory, cited.split("#")[0], what)
        return cited

    def filed(self, memory: Memory, id: str) -> Filed:
        """Return a note by its id, or a unique prefix of it.

        Raises:
            NotFoundError: there is none, or it lies outside.
        """
        if not self:
            return memory.get(id)
        # What lies outside must not change the answer, or ids could be guessed letter by letter.
        shelf = Shelf(memory.store)
        entries = shelf.entries()
        begun = [entry for known, entry in entries.items() if id and known.startswith(id)]
        near = [entries[id]] if id in entries else begun
        held = self._filter_paths_inside(memory, {entry.path for entry in near})
        # None or several: a bound client gets the same answer, and learns nothing of the others.
        if len(held) != 1:
            raise NotFoundError("note or file", id)
        try:
            return shelf.file(held.pop())
        except FormatError as error:
            raise NotFoundError("note or file", id) from error


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request."""

    name: str
    scopes: frozenset[Scope] = frozenset({Scope.READ, Scope.WRITE, Scope.ADMIN})
    space: Namespace = field(default_factory=Namespace)
    person: bool = False
    """Whether a person sits there, whose word counts as that of the owner."""
    member: str = ""
    """The member of a space that it is; empty where there is none."""
    groups: tuple[str, ...] = ()
    """Groups that the member is in, as an issuer of identities says."""
    run: str = field(default="", compare=False)
    """The run of an agent that asks, as it says itself; it decides nothing."""

    @property
    def actor(self) -> Actor:
        """Who the journal names."""
        name, origin = f"http:{self.name}", Origin.AGENT
        if self.person:
            name, origin = f"web:{self.name}", Origin.HUMAN
        elif self.member:
            name = f"member:{self.member}"
        return Actor(name, origin, sub=self.member, run=self.run)

    def may(self, scope: Scope) -> bool:
        """Whether a scope is granted."""
        # A program with every right over the API is still no person.
        by_admin = Scope.ADMIN in self.scopes and scope is not Scope.PERSON
        return scope in self.scopes or by_admin

    def need(self, scope: Scope, *, whole: bool = False) -> None:
        """Raise ServerError unless the caller may do this, to the whole memory if need be."""
        if not self.may(scope):
            raise denied(f"This token has no scope '{scope}'. Ask its owner for another one.")
        # A job of the whole memory cannot be confined to a part, so it is refused instead.
        if whole and self.space:
            raise denied("This concerns the whole memory, and this token is bound to a part.")
        self.of_no_space()

    def of_no_space(self) -> Caller:
        """Return the caller; raise ServerError for a member where the memory is in no space."""
        if self.member and not self.space:
            raise denied("This token is that of a member of a space, which the memory left.")
        return self
