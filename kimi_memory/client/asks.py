"""Requests of the clients, each with the type of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from kimi_memory.domain.search_types import Answer, Query
from kimi_memory.formats.json_values import plain
from kimi_memory.lazy_dataclass import dataclass

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


def get(path: str, gives: type[T], /, **said: Any) -> Ask[T]:
    """Return a request for what stands at a path."""
    return Ask("GET", path, gives, said)


def post(path: str, gives: type[T], /, **said: Any) -> Ask[T]:
    """Return a request to do something at a path."""
    return Ask("POST", path, gives, said)


def segment(name: str) -> str:
    """Return a name as one part of a path."""
    return quote(name, safe="")


Scopes = tuple[str, ...] | None
"""Private scopes; None for all that may be seen."""


def recall(query: Query | str, limit: int) -> Ask[Answer]:
    """Return the request for the lines that answer a question."""
    if isinstance(query, str):
        return post("/v1/recall", Answer, query=query, limit=limit)
    # How silent blocks are is the server's to say.
    said = {f.name: getattr(query, f.name) for f in fields(query) if f.name != "min_relevance"}
    said |= {"within": sent_scopes(query.within), "limit": limit or query.limit}
    return post("/v1/recall", Answer, **said)


def sent_scopes(within: Scopes) -> Scopes:
    """Return private scopes as they are sent: None is left out, none at all is not."""
    # An empty list is left out of a request like None, and would then show everything.
    return ("",) if within == () else within
