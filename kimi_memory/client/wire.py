"""The wire of both clients: requests out, answers and errors of the library back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import httpx

from kimi_memory.client.asks import Ask
from kimi_memory.errors import ServerError
from kimi_memory.llm.remote.http import is_loopback
from kimi_memory.server.errors import raised
from kimi_memory.server.responses import Event
from kimi_memory.server.values import revive

URL = "http://127.0.0.1:8378"
SECONDS = 120.0
"""So long a client waits for an answer; a job over many sessions may take longer."""

T = TypeVar("T")


def settings(url: str, token: str, seconds: float) -> dict[str, Any]:
    """Return how a client of httpx is made for a server."""
    return {
        "base_url": url,
        "headers": {"authorization": f"Bearer {token}"} if token else {},
        # A server that is not there is known after ten seconds; only a job may take longer.
        "timeout": httpx.Timeout(seconds, connect=10.0),
        # No proxy stands between a machine and itself.
        "trust_env": not is_loopback(url),
    }


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
