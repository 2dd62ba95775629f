"""What the tools return: plain values with a schema that clients are told."""

from __future__ import annotations

from typing_extensions import TypedDict


class FoundLine(TypedDict):
    """One hit of a search."""

    id: str
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
    first: int
    text: str


class Done(TypedDict):
    """What a job changed; `undo` with its id takes it back."""

    job: str
    changed: list[str]
    left_out: list[str]
    diff: str


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
