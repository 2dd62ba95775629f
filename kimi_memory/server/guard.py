"""The guard of a memory that belongs to a space: policies decide, and the log knows, each request.

Every door asks it: the API, its streams, the pages, and the tools of agent programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import user_host
from kimi_memory.capture.log import Screen
from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.search_types import Answer, Context
from kimi_memory.domain.space_types import Decision, Member
from kimi_memory.errors import DeniedError, FormatError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller, Namespace, Scope
from kimi_memory.server.schema import Given
from kimi_memory.spaces.audit_log import decision_record
from kimi_memory.spaces.code_flow import Begun
from kimi_memory.spaces.people import People, Person, Signer
from kimi_memory.spaces.space_files import REGISTRY
from kimi_memory.spaces.space_folder import LOCAL, SpaceFolder, find_space_of
from kimi_memory.store.files.disk import Stat, state_of

ACTIONS: Mapping[str, str] = {
    **dict.fromkeys(("search", "recall"), "recall"),
    **dict.fromkeys(("read", "get", "trace", "timeline", "blame", "sessions", "window"), "get"),
    "follow": "get",
    "context": "context",
    **dict.fromkeys(("append", "start", "turn", "state", "end", "compact", "flush"), "capture"),
    "remember": "remember",
    "forget": "forget",
    **dict.fromkeys(("distil", "consolidate"), "consolidate"),
    "undo": "undo",
    **dict.fromkeys(("status", "measure"), "deploy"),
    **dict.fromkeys(("cluster_status", "cluster_nodes", "cluster_deployments"), "deploy"),
    **dict.fromkeys(("cluster_place", "promote", "demote"), "deploy"),
}
"""What a request asks of the policies, by its name in the API.

Others show what is private to others, and are for no member.
"""
WHOLE = frozenset({"distil", "consolidate", "undo", "status", "measure"})
"""Requests over the whole memory; their answers are stripped of what may be private."""
_NAMED = ("what", "path", "id", "key", "note", "session")
"""Parameters by which a request names what it wants."""
_LONGEST = 300
"""Letters of such a name, and of a question, that the log keeps."""


@dataclass(frozen=True, slots=True)
class Request:
    """Something that is asked for at a door."""

    name: str
    """Of a route, or of what a tool or page does."""
    via: str
    """The door: ``http``, ``mcp``, ``pages`` or ``proxy``."""
    scope: Scope = Scope.READ
    given: Given | None = None

    @property
    def action(self) -> str:
        """What it asks of the policies; its own name where no member may do it."""
        return ACTIONS.get(self.name, self.name)


FOLLOW = Request("follow", "")
"""To go on with what was begun: to be told what happens."""
ENTER = Request("follow", "pages", Scope.PERSON)
"""To take a seat at the pages."""


class Ruling(NamedTuple):
    """What was decided of a request."""

    caller: Caller
    """Who asks, as the member that it is, confined to what that may see."""
    decision: Decision


class Guard:
    """Lets members do what the policies of their space allow, and writes each decision down.

    Args:
        space: the space.
        memory: the id of its memory.
        find_epoch: returns the leadership of that memory which is known here.
    """

    def __init__(
        self, space: SpaceFolder, memory: str, find_epoch: Callable[[], int] = lambda: 0
    ) -> None:
        self._space, self._memory, self._find_epoch = space, memory, find_epoch
        self.people = People(space)
        """Those whom an issuer vouches for."""

    def identify(self, token: str) -> Caller | None:
        """Return the principal of an issuer's token; None where the token is not valid.

        Raises:
            ServerError: the issuer does not answer.
        """
        person = self.people.identify(token)
        # What it may do is for the policies alone; it sits down at no page.
        return _caller_of(person) if person else None

    def finish_sign_in(self, begun: Begun, answered: str) -> Caller | None:
        """Return who came back as a person at the pages, once it is noted; None for nobody.

        Raises:
            DeniedError: it is somebody whom the policies let see nothing.
            UsageError, ServerError: the issuer signs nobody in any more, or does not answer.
        """
        person = self.people.finish(begun, answered)
        if person is None:
            return None
        caller = replace(_caller_of(person), scopes=frozenset({Scope.PERSON}), person=True)
        self.admit(caller, ENTER)
        return caller

    def admit(self, caller: Caller, request: Request) -> Caller:
        """Return a caller as the member it is, confined to what it may see, once that is noted.

        Raises:
            DeniedError: it may not, and why.
            DiskError: the log takes no line, so nothing may be done.
        """
        ruling = self.rule(caller, request)
        self.note(ruling, request)
        return ruling.caller

    def rule(self, caller: Caller, request: Request) -> Ruling:
        """Return what was decided; an allowance is still to be noted.

        Raises:
            DeniedError: it may not, and why; that is noted.
            DiskError: the log takes no line.
        """
        decision, member = self._decide(caller, request)
        if member:
            caller = replace(caller, space=confine(member))
        ruling = Ruling(caller, decision)
        if not decision:
            self.note(ruling, request)
            raise DeniedError(self._space.name, decision.why)
        return ruling

    def note(self, ruling: Ruling, request: Request, value: Any = None) -> None:
        """Write down what was decided, and what is about to be shown.

        Raises:
            DiskError: the log takes no line, so nothing may be shown, or done.
        """
        caller, given = ruling.caller, request.given or {}
        who = caller.member or (LOCAL if ruling.decision else f"client {caller.name}")
        words = str(given.get("query") or given.get("text") or "")
        named = next((str(given[name]) for name in _NAMED if given.get(name)), "")
        hits, scopes = _list_shown(value)
        line = decision_record(
            self._space.name, who, request.action, ruling.decision, self._memory,
            via=request.via, resource=named[:_LONGEST], hits=hits, count=len(hits),
            query=self._show_words(words), scope=" ".join(sorted(scopes)),
            run=caller.run, epoch=self._find_epoch(),
        )  # fmt: skip
        self._space.note(line)

    def _show_words(self, words: str) -> str:
        """Return what the log has of a question: a keyed hash, or words without secrets."""
        space = self._space
        if not space.shows_words:
            return space.log.hide(words)
        return Screen(user_host(space.home), space.home.key()).mask(words[:_LONGEST])[0]

    def narrow(self, caller: Caller) -> Caller:
        """Return who chats, with the scopes that policies leave: to get a block, to be stored.

        Raises:
            DeniedError: they leave none.
            DiskError: the log takes no line.
        """
        left, refused = dict[Scope, Caller](), list[DeniedError]()
        for name, scope in (("context", Scope.READ), ("turn", Scope.WRITE)):
            try:
                left[scope] = self.admit(caller, Request(name, "proxy", scope))
            except DeniedError as error:
                refused.append(error)
        if not left:
            raise refused[0]
        return replace(next(iter(left.values())), scopes=frozenset(left))

    def still_admits(self, caller: Caller, admitted: Caller, request: Request = FOLLOW) -> bool:
        """Whether somebody would be let in now, as it was when they asked; nothing is noted."""
        decision, member = self._decide(caller, request)
        now = replace(caller, space=confine(member)) if member else caller
        return bool(decision) and now == admitted

    def close(self) -> None:
        """Commit what the log has."""
        self._space.log.commit("Audit log")

    def _decide(self, caller: Caller, request: Request) -> tuple[Decision, Member | None]:
        space, sub = self._space, caller.member
        if not sub and caller.person and caller.name == "owner":
            # Who was handed a code by the program that has the folder needs no policy.
            return Decision(True, (), LOCAL), None
        if not sub:
            return _refuse(
                f"The memory belongs to the space {space.name}, and this client names no member. "
                "'kimi-memory serve token add NAME --member MEMBER' makes a token that does"
            )
        if request.name not in ACTIONS:
            return _refuse(f"{request.name} shows what is private to others, so no member may")
        if not caller.may(request.scope) and not caller.person:
            return _refuse(f"The token {caller.name} of {sub} has no scope {request.scope}")
        return space.decide_for(sub, request.action, self._memory, caller.groups)


class GuardPost:
    """Finds the guard of an open memory, and again when the spaces of this machine change."""

    def __init__(self, memory: Memory) -> None:
        self._home, self._memory, self._root = memory.home, memory.settings.memory.id, memory.root
        self._find_epoch = partial(epoch_of, memory)
        self._mark: Stat | None = None
        self._guard: Guard | None = None

    def find(self) -> Guard | None:
        """Return the guard; None where the memory belongs to no space.

        Raises:
            FormatError: nobody knows whether it does.
        """
        mark = state_of(self._home.state, REGISTRY)
        if mark != self._mark:
            space = find_space_of(self._home, self._memory, self._root) if mark else None
            self._guard = Guard(space, self._memory, self._find_epoch) if space else None
            self._mark = mark
        return self._guard

    def known(self) -> bool:
        """Whether the memory belongs to a space that believes an issuer."""
        try:
            guard = self.find()
            return guard is not None and guard.people.known()
        except (FormatError, OSError):
            # While the space cannot be read nobody gets in, so nothing needs to be offered either.
            return False

    @property
    def signer(self) -> Signer | None:
        """Who signs people in at the pages; None where nobody does, or nobody knows."""
        try:
            guard = self.find()
            return guard.people.signer if guard else None
        except (FormatError, OSError):
            # The page then offers no sign-in, rather than one that must fail.
            return None

    def caller(self, token: str) -> Caller | None:
        """Return the principal of an issuer's token; None where the token is not valid."""
        guard = self.find()
        return guard.identify(token) if guard else None

    def bind(self, caller: Caller) -> Guard | None:
        """Return the guard of a program that runs beside the folder, and says for whom.

        Raises:
            UsageError: the memory belongs to a space and no member was named, or the reverse.
        """
        guard = self.find()
        if guard is not None and not caller.member:
            raise UsageError(
                "This memory belongs to a space. Say which member asks with '--member'."
            )
        if guard is None and caller.member:
            raise UsageError(
                "This memory belongs to no space. Leave '--member' out, or share it with "
                "'kimi-memory space share'."
            )
        return guard

    def close(self) -> None:
        """Commit what the log has."""
        if self._guard is not None:
            self._guard.close()


def confine(member: Member) -> Namespace:
    """Return what a member sees: what is shared, and what is its own."""
    if member.kind == "agent":
        return Namespace(agent=member.sub, shared=True)
    return Namespace(user=member.sub, shared=True)


def epoch_of(memory: Memory) -> int:
    """Return the leadership of a memory that is known here; 0 on a machine by itself."""
    relay = memory.store.relay
    return (relay.epoch or relay.position.known_epoch) if relay else 0


def without_words(value: Any) -> Any:
    """Return what a job did, without words and names that may be private to somebody."""
    if isinstance(value, list):
        return [without_words(one) for one in value]
    if isinstance(value, JobReport):
        return replace(value, subject="", operations=(), paths=(), left_out=(), diff="", failed="")
    if isinstance(value, Job):
        return replace(value, subject="", operations=(), effects=())
    return value


def _caller_of(person: Person) -> Caller:
    return Caller(f"issued {person.sub}", member=person.sub, groups=person.groups)


def _refuse(why: str) -> tuple[Decision, None]:
    return Decision(False, (), why), None


def _list_shown(value: Any) -> tuple[tuple[str, ...], set[str]]:
    """Return the notes or files that an answer shows, and the areas that are known of them."""
    if isinstance(value, Answer):
        found = dict.fromkeys(hit.unit.id or hit.unit.path for hit in value.hits)
        return tuple(found), {hit.unit.scope or "shared" for hit in value.hits}
    if isinstance(value, Context):
        return value.lines, set()
    many = value if isinstance(value, list) else getattr(value, "results", None) or [value]
    return tuple(dict.fromkeys(path for one in many if (path := getattr(one, "path", "")))), set()
