"""What the tools return: plain values with a schema that clients are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from typing_extensions import TypedDict

F = TypeVar("F", bound=Callable[..., Any])


class Tool(Protocol):
    """Registers a function as a tool of a name."""

    def __call__(
        self, name: str, *, reads: bool = True, destroys: bool = False
    ) -> Callable[[F], F]:
        """Return what takes the function."""


# Typed dicts and no dataclasses: both versions of the library make a schema of them, and clients
# see these names.
class FoundLine(TypedDict):
    """One hit of a search."""

    id: str
    path: str
    startLine: int
    endLine: int
    citation: str
    score: float
    snippet: str
    kind: str
    said_by: str
    date: str
    status: str
    trust: str


class Search(TypedDict):
    """What a search found."""

    results: list[FoundLine]
    notes: list[str]


class Text(TypedDict):
    """Lines of a file."""

    path: str
    startLine: int
    endLine: int
    """That of the last line shown."""
    text: str


class Done(TypedDict):
    """What a job changed; `undo` with its id takes it back."""

    job: str
    changed: list[str]
    left_out: list[str]
    diff: str


class Compacted(TypedDict):
    """A chat as it is to go on, and where all of it is kept."""

    messages: list[dict[str, Any]]
    before: int
    after: int
    dropped: int
    summary: str
    session: str
    stored: int


class Flushed(TypedDict):
    """What of a chat was kept."""

    session: str
    stored: int
    remembered: list[str]
    prompt: str
    """What to ask the chat's model before it is shortened."""


class Proof(TypedDict):
    """One piece of evidence."""

    quote: str
    verified: bool
    citation: str
    said_by: str
    text: str


class Origins(TypedDict):
    """Where a note comes from."""

    id: str
    path: str
    evidence: list[Proof]
    commits: list[str]


class PastState(TypedDict):
    """A note as it was from one version on."""

    version: int
    known: str
    change: str
    id: str
    key: str
    says: str
    status: str
    confidence: float
    valid_from: str
    valid_to: str
    job: str
    why: str
    turns: list[str]


class Timeline(TypedDict):
    """The states of a note or a key, oldest first."""

    states: list[PastState]


class BlamedField(TypedDict):
    """A field of a note, and where it comes from."""

    id: str
    path: str
    field: str
    says: str
    version: int
    known: str
    job: str
    why: str
    turns: list[Proof]
    before: list[str]
    """What it said earlier, newest first."""


class Blamed(TypedDict):
    """Where a note comes from."""

    fields: list[BlamedField]


class Block(TypedDict):
    """A block of memory for a prompt, fenced as data."""

    text: str
    tokens: int


class State(TypedDict):
    """What is in the memory."""

    turns: int
    open_sessions: int
    notes: dict[str, dict[str, int]]
    index: str
    history: str
    waits: dict[str, int]


class Item(TypedDict):
    """Something that waits for a person's word."""

    id: str
    title: str
    text: str
    reason: str
    diff: str
    evidence: list[str]


class Waiting(TypedDict):
    """Everything that waits."""

    items: list[Item]


class Entity(TypedDict):
    """A named thing and what was observed of it."""

    name: str
    entityType: str
    observations: list[str]


# In this form, as `from` cannot name a field of a class.
Relation = TypedDict("Relation", {"from": str, "to": str, "relationType": str})
"""A relation between two names."""


class Observed(TypedDict):
    """Something new about an entity."""

    entityName: str
    contents: list[str]


class Deletion(TypedDict):
    """Observations that an entity is to lose."""

    entityName: str
    observations: list[str]


class Added(TypedDict):
    """What was new about an entity."""

    entityName: str
    addedObservations: list[str]


class EntityList(TypedDict):
    """Entities that were made."""

    entities: list[Entity]


class RelationList(TypedDict):
    """Relations that were made."""

    relations: list[Relation]


class AddedList(TypedDict):
    """What was new, entity by entity."""

    results: list[Added]


class Success(TypedDict):
    """What has been done."""

    success: bool
    message: str


class Network(TypedDict):
    """Entities and the relations that touch them."""

    entities: list[Entity]
    relations: list[Relation]
