"""Values of a space: its members, what they may be and do, what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from kimi_memory.lazy_dataclass import dataclass

Kind = Literal["user", "agent", "group", "node"]
KINDS: tuple[str, ...] = get_args(Kind)
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "reading": ("recall", "get", "context"),
    "writing": ("capture", "remember", "forget"),
    "keeping": ("consolidate", "review", "undo", "conflicts", "deploy"),
    "owning": ("share", "export", "purge", "member"),
}
"""What can be asked for, by the group that policies name."""
ALL_ACTIONS = tuple(action for actions in ACTIONS.values() for action in actions)
PLACE = "place"
"""What is asked for a machine of a cluster: whether a task over a memory may run there."""
ROLES = ("reader", "writer", "keeper", "owner")
"""Each of them may also do what those before it may."""
ACTING = ("user", "agent")
"""Kinds that can ask for something; a group or a node is only listed."""


@dataclass(frozen=True, slots=True)
class Space:
    """What ``space.toml`` says."""

    id: str
    name: str
    created: datetime
    issuer: str = ""
    """Who signs the identities of people; only tokens of this machine count where it is empty."""
    audience: str = ""
    """For whom the issuer must have signed them."""
    claim: str = "sub"
    """Which claim of a token names the person."""
    groups: str = "groups"
    """Which claim names groups, whose roles a person has, too."""
    client: str = ""
    """Under which name ``space login`` is known to the issuer."""
    memories: Mapping[str, str] = field(default_factory=dict)
    """Names of its memories, by id."""
    queries: Literal["hash", "text"] = "hash"
    """How the log has the words of a question: as a keyed hash, or as they are."""
    tokens_per_day: int = 0
    """So many tokens the jobs of all its memories may spend in a day; no bound if 0."""


@dataclass(frozen=True, slots=True)
class Member:
    """A line of ``members.jsonl``."""

    sub: str
    """The name that tokens, policies and the log use."""
    kind: Kind
    name: str
    roles: tuple[str, ...]
    added: datetime
    by: str
    identity: str = ""
    """What the issuer calls this person; `sub` where it is empty."""
    recipient: str = ""
    """A public key of age or ssh: keepers and owners can be let into what is sealed, by it."""

    @property
    def area(self) -> str:
        """The private area of this member in every memory."""
        return f"{self.kind}:{self.sub}"


class Claims(NamedTuple):
    """What an issuer says of somebody."""

    name: str
    """The value of the claim by which members are known."""
    groups: tuple[str, ...] = ()


class Place(NamedTuple):
    """A machine, and what is to run there."""

    kind: str
    region: str
    zone: str
    task: str
    """Its kind, such as ``batch``."""
    security: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a member wants to do, and where."""

    member: Member
    action: str
    memory: str
    """Its id; empty for what is about the space itself."""
    scopes: tuple[str, ...] = ("",)
    """Areas that it is about; empty text is what is shared."""
    place: Place | None = None
    """The machine that the member is, where a task may run there or not."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether somebody may do something, and by which policies."""

    allowed: bool
    policies: tuple[str, ...]
    """Places of the policies that decided, such as ``policies/roles.cedar:2``."""
    why: str

    def __bool__(self) -> bool:
        return self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A line of the audit log."""

    seq: int = 0
    at: datetime
    node: str = ""
    sub: str
    via: str = ""
    """How it came: ``http``, ``mcp``, ``proxy``, ``pages``, ``library`` or ``cli``."""
    run: str = ""
    space: str
    memory: str
    action: str
    resource: str = ""
    """What was asked for by name: a path, an id, a member."""
    scope: str = ""
    """The areas that the answer came from; of a refusal, the one it was about."""
    decision: Literal["allow", "deny"]
    policies: tuple[str, ...]
    query: str = ""
    """A keyed hash of the words that were asked for; the words where the space says so."""
    hits: tuple[str, ...] = ()
    count: int = 0
    epoch: int = 0
    prev: str = ""
    """SHA-256 of the line before."""
    mac: str = ""
    """HMAC of everything above, with the machine's key."""


class AuditHead(NamedTuple):
    """Where the audit log of a machine in a space ended at some time."""

    space: str
    """Its id."""
    node: str
    seq: int
    hash: str
