"""Requests of both clients with the types of their answers, and what goes over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from kimi_memory.domain.addresses import is_local_url
from kimi_memory.domain.search_types import Answer, Query
from kimi_memory.errors import ServerError
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.errors import raised
from kimi_memory.server.responses import Event

URL = "http://127.0.0.1:8378"
SECONDS = 120.0
"""So long a client waits for an answer; a job over many sessions may take longer."""

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


def settings(url: str, token: str, seconds: float) -> dict[str, Any]:
    """Return how a client of httpx is made for a server."""
    return {
        "base_url": url,
        "headers": {"authorization": f"Bearer {token}"} if token else {},
        # A server that is not there is known after ten seconds; only a job may take longer.
        "timeout": httpx.Timeout(seconds, connect=10.0),
        # No proxy stands between a machine and itself.
        "trust_env": not is_local_url(url),
    }


MOST_HOPS = 3
"""So often a write is sent on; who leads may change meanwhile."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How a write gets to the machine that takes it."""

    url: str
    """Of the server that is asked first."""
    token: str
    others: Mapping[str, str]
    """Tokens of the other machines, by the address of their server."""

    def send_on(self, ask: Ask[Any], answer: httpx.Response) -> dict[str, Any] | None:
        """Return a request for the machine that an answer names; None for an answer to keep."""
        if answer.status_code != httpx.codes.TEMPORARY_REDIRECT:
            return None
        place = answer.headers.get("location", "")
        known = [one for one in self.others if place.startswith(f"{one.rstrip('/')}/")]
        if known:
            headers = {"authorization": f"Bearer {self.others[known[0]]}"}
        # A token is for the machine that it was made for: no answer makes us show it elsewhere.
        elif self.token or not place.startswith(("https://", self.url.partition("//")[0])):
            return None
        else:
            headers = {}
        return {**sent(ask), "url": place, "headers": headers}


def sent(ask: Ask[Any]) -> dict[str, Any]:
    """Return a request as httpx wants it."""
    place = "json" if ask.method == "POST" else "params"
    return {"method": ask.method, "url": ask.path, place: ask.stated}


def answered(ask: Ask[T], answer: httpx.Response) -> T:
    """Return what was asked for.

    Raises:
        KimiMemoryError: the server refused; it is the error the library would raise.
    """
    body = _parse_body(answer)
    if answer.status_code != httpx.codes.OK:
        raise raised(answer.status_code, body)
    try:
        made: T = revive(ask.gives, body)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _bad_answer_error(answer) from error
    return made


def check_stream(answer: httpx.Response) -> None:
    """Raise the error of a stream that was refused, once it is read."""
    if answer.status_code != httpx.codes.OK:
        raise raised(answer.status_code, _parse_body(answer))


def _parse_body(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError as error:
        raise _bad_answer_error(answer) from error


def _bad_answer_error(answer: httpx.Response) -> ServerError:
    return ServerError(
        f"{answer.url.host} answered {answer.status_code}, and not as a memory server does. "
        "Check the address.",
        status=answer.status_code,
    )


def silent(url: str, error: Exception) -> ServerError:
    """Return the error for a server that did not answer."""
    why = str(error) or type(error).__name__
    return ServerError(f"No answer from {url}: {why}. Start it with 'kimi-memory serve'.")


class Events:
    """Makes events of the lines of a stream."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def feed_line(self, line: str) -> Iterator[Event]:
        """Take one line; yields the event that it completes, if any."""
        if line:
            name, _, value = line.partition(":")
            self._told[name] = value.strip()
            return
        told, self._told = self._told, {}
        if "data" in told:
            found: Mapping[str, Any] = json.loads(told["data"])
            yield revive(Event, found)


def follow(after: int) -> dict[str, Any]:
    """Return the request for a stream of events."""
    headers = {"last-event-id": str(after)} if after else {}
    # Nothing may happen for hours: a stream has no longest wait.
    return {"method": "GET", "url": "/v1/events", "headers": headers, "timeout": None}
