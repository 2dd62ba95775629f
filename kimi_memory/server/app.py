"""The application: requests in, checked at the door, answered from the desk.

This module and that of the pages know the library Starlette.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute
from starlette.routing import Route as Way
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from kimi_memory.domain.ids import read_run
from kimi_memory.errors import KimiMemoryError, NotPrimaryError, ServerError, UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.server import errors, events
from kimi_memory.server.auth import Door, Tokens, headers_of
from kimi_memory.server.events import Streams
from kimi_memory.server.guard import Request as Asked
from kimi_memory.server.metrics import Metrics, measure_log
from kimi_memory.server.openapi import document
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.server.rate_limit import BODY_SECONDS, Pace, too_large, too_slow
from kimi_memory.server.responses import Event
from kimi_memory.server.routes import ROUTES, SPECIAL
from kimi_memory.server.schema import Route, Special
from kimi_memory.server.server import Serving
from kimi_memory.server.workers import Desk

# Nobody notices so small a delay.
POLL_SECONDS = 0.25
# Nothing of a memory stays in caches, and no browser takes an answer for a page.
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}

Answer = Callable[[Request], Awaitable[Response]]


class App:
    """The ASGI application of one memory.

    Args:
        desk: of the memory.
        tokens: of the memory.
        serving: by which names, within which limits.
        stop: set when the server is asked to end.
        pages: ways to pages for a browser, beside those of the API.
        landings: paths to which pages of others may lead a browser.
    """

    def __init__(
        self, desk: Desk, tokens: Tokens, serving: Serving, stop: asyncio.Event, *,
        pages: Sequence[BaseRoute] = (), landings: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._desk, self._limits, self._landings = desk, serving.limits, landings
        self._door = Door(tokens, serving.names, desk.issued)
        self._pace, self._metrics = Pace(serving.limits.per_second), Metrics()
        self._streams = Streams(stop, serving.limits.streams, POLL_SECONDS)
        self._root, self._name = str(desk.root), f"/m/{desk.root.name}"
        self._document = document(ROUTES)
        self._inner: ASGIApp = Starlette(
            routes=[  # nothing but what these tables have a rule for
                *(Way(one.path, self._make_handler(one), methods=[one.method]) for one in ROUTES),
                *(
                    Way(one.path, self._make_special_handler(one), methods=["GET"])
                    for one in SPECIAL
                ),
                *pages,
            ],
            exception_handlers={
                KimiMemoryError: self._handle_memory_error,
                HTTPException: self._handle_http_error,
                ClientDisconnect: self._handle_disconnect,
                Exception: self._handle_fault,
            },
        )
        if serving.names.origins:
            self._inner = CORSMiddleware(
                self._inner,
                allow_origins=list(serving.names.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", "last-event-id"],
            )

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Answer one request; nothing comes in that the door refuses."""
        if scope["type"] != "http":
            return
        began, status = time.perf_counter(), 500
        scope = _without_name(scope, self._name)

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            landing = scope["path"] in self._landings
            self._door.check(headers_of(scope["headers"]), landing=landing)
        except KimiMemoryError as error:
            await self._error_response(error)(scope, receive, noting)
        else:
            await self._inner(scope, receive, noting)
        route = getattr(scope.get("endpoint"), "__name__", "none").lstrip("_")
        self._metrics.add(route, status, time.perf_counter() - began)

    def _make_handler(self, route: Route) -> Answer:
        async def answer(request: Request) -> Response:
            await self._come_in(request, route.scope, whole=route.whole)
            sent = await self._read_parameters(request, route)
            caller = request.state.caller
            position = await self._desk.find_position(_find_after(request))
            given, shown = route.given(sent), request.headers.get("authorization", "")
            # A body may take its time, and so may those who are served before.
            value = await self._desk.carry_out(
                route, caller, given, lambda: self._door.still_opens(shown, caller)
            )
            if position and route.writes:
                position = await self._desk.find_position(wrote=True)
            return JSONResponse(value, headers={**_HEADERS, **position})

        answer.__name__ = route.name
        return answer

    def _make_special_handler(self, special: Special) -> Answer:
        made: dict[str, Callable[[Request, Caller], Awaitable[Response]]] = {
            "describe": self._serve_document,
            "measure": self._serve_metrics,
            "follow": self._serve_events,
        }
        deed = made[special.name]

        async def answer(request: Request) -> Response:
            caller = await self._come_in(request, special.scope, whole=special.whole)
            guard = self._desk.guard
            if guard is not None and special.scope is not None:
                asked = Asked(special.name, "http", special.scope)
                caller = await asyncio.to_thread(guard.admit, caller, asked)
            return await deed(request, caller)

        answer.__name__ = special.name
        return answer

    async def _come_in(
        self, request: Request, scope: Scope | None, *, whole: bool = False
    ) -> Caller:
        """Return the caller of a request, once the request is permitted."""
        address = request.client.host if request.client else ""
        if scope is None:
            self._pace.count_request(address)
            caller = Caller("anybody", frozenset())
        else:
            try:
                caller = await self._door.caller(request.headers.get("authorization", ""))
                caller = replace(caller, run=read_run(request.headers, "kimi-run"))
            except ServerError:
                self._pace.count_request(address)
                raise
            # By token and not by address: clients behind one address do not slow each other down.
            self._pace.count_request(f"{caller.name}\0token")
            # In a space the guard decides instead, and writes it down.
            if self._desk.guard is None:
                caller.need(scope, whole=whole)
        request.state.caller = caller
        return caller

    async def _read_parameters(self, request: Request, route: Route) -> Mapping[str, Any]:
        """Return what a request says, in its address and its body."""
        sent: dict[str, Any] = {}
        for name, value in request.query_params.multi_items():
            # A name that comes twice could mean one value to us and another to a proxy before us.
            if name in sent or not any(f.name == name and f.place == "query" for f in route.fields):
                raise UsageError(f"The address takes no {name[:60]!r}, or not twice.")
            sent[name] = value
        if route.method == "POST":
            body = await self._read_json_body(request)
            misplaced = {f.name for f in route.fields if f.place != "body"} & body.keys()
            if misplaced:
                raise UsageError(f"{min(misplaced)!r} does not stand in the body.")
            sent |= body
        return sent | request.path_params

    async def _read_json_body(self, request: Request) -> Mapping[str, Any]:
        raw = await read_body(request, self._limits.body_bytes)
        if not raw.strip():
            return {}
        kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        # A form of a foreign page can send JSON as plain text without asking us first; a JSON
        # request has to ask.
        if kind != "application/json":
            why = "The body must be JSON. Send 'Content-Type: application/json'."
            raise ServerError(why, status=415, code="not_json")
        try:
            found = json.loads(raw)
        # Ten thousand brackets end the parser of Python by its depth, not by an error of the form.
        except (ValueError, RecursionError) as error:
            raise UsageError(f"The body is no JSON: {error}. Send an object.") from error
        if not isinstance(found, dict):
            raise UsageError("The body is no object. Send one, such as {}.")
        return found

    async def _serve_document(self, request: Request, caller: Caller) -> Response:
        return JSONResponse(self._document, headers=_HEADERS)

    async def _serve_metrics(self, request: Request, caller: Caller) -> Response:
        index = await self._desk.read(lambda memory: memory.index.status())
        gauges: dict[str, float] = {
            "index_units": index.units,
            "index_files": index.files,
            "index_pending": index.pending,
            "journal_records": await asyncio.to_thread(events.head, self._desk.memory),
            "http_waiting": self._desk.waiting,
            "http_streams": self._streams.open,
        }
        if relay := self._desk.memory.store.relay:
            gauges |= measure_log(relay)
        text = self._metrics.text(gauges)
        kind = "text/plain; version=0.0.4"
        return PlainTextResponse(text, media_type=kind, headers=_HEADERS)

    async def _serve_events(self, request: Request, caller: Caller) -> Response:
        self._streams.check_room()
        last = request.headers.get("last-event-id", "")
        # `isdigit` alone takes digits of all scripts, and `²`, which is no number.
        if last and not (last.isascii() and last.isdigit() and len(last) < 16):
            raise UsageError("'Last-Event-ID' is no number. Send one of an event.")
        start = await asyncio.to_thread(events.head, self._desk.memory)
        seq = min(int(last), start) if last else start
        lines = self._streams.follow(
            self._desk, seq, caller.space,
            # A client that loses the stream comes back after a second, with this number.
            first=f"id: {seq}\nretry: 1000\n\n", render=_format_event,
            stays=partial(self._is_still_admitted, request, caller),
        )  # fmt: skip
        return StreamingResponse(lines, media_type="text/event-stream", headers=_HEADERS)

    async def _is_still_admitted(self, request: Request, caller: Caller) -> bool:
        """Whether what a client has shown lets the same caller in now, to see the same."""
        try:
            shown = await self._door.caller(request.headers.get("authorization", ""))
        except ServerError:
            # The token was taken back, or the space lets nobody in: the stream ends.
            return False
        return shown == request.state.caller and self._desk.still_admits(shown, caller)

    def _error_response(self, error: KimiMemoryError) -> JSONResponse:
        status = errors.status_of(error)
        headers = dict(_HEADERS)
        if status == 401:
            headers["www-authenticate"] = "Bearer"
        if status in errors.PASSING:
            headers["retry-after"] = "1"
        return JSONResponse(errors.body_of(error, self._root), status, headers=headers)

    async def _handle_memory_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, KimiMemoryError)
        made = self._error_response(error)
        if isinstance(error, NotPrimaryError) and error.primary:
            base = await self._desk.find_address(error.primary)
            if base:
                # It has the same routes; the method and the body stay what they are.
                query = f"?{request.url.query}" if request.url.query else ""
                made.status_code = 307
                made.headers["location"] = f"{base}{quote(request.scope['path'])}{query}"
        return made

    async def _handle_http_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        what = {404: "There is nothing at this address", 405: "This address takes another method"}
        why = f"{what.get(error.status_code, error.detail)}. Look at /openapi.json."
        code = {404: "no_such_route", 405: "wrong_method"}.get(error.status_code, "http")
        made = self._error_response(ServerError(why, status=error.status_code, code=code))
        made.headers.update(error.headers or {})
        return made

    async def _handle_disconnect(self, request: Request, error: Exception) -> Response:
        return self._error_response(
            ServerError("The client went away. Send it again.", status=400, code="left")
        )

    async def _handle_fault(self, request: Request, error: Exception) -> Response:
        why = f"A fault of the server ({type(error).__name__}). Look at its log."
        return self._error_response(ServerError(why, status=500, code="internal"))


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request.

    Raises:
        ServerError: it is larger than that, or comes too slowly.
    """
    length = request.headers.get("content-length", "0")
    # Before a byte of the body is read; a length that lies is found while reading.
    if not length.isdigit() or int(length) > most:
        raise too_large(most)
    raw = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                raw += part
                if len(raw) > most:
                    raise too_large(most)
    except TimeoutError:
        raise too_slow() from None
    return bytes(raw)


def _without_name(scope: Connection, name: str) -> Connection:
    """Return a request by the name of our memory as one of the memory itself."""
    path = str(scope["path"])
    if not path.startswith(f"{name}/"):
        return scope
    rest = path.removeprefix(name)
    return dict(scope) | {"path": rest, "raw_path": rest.encode()}


def _find_after(request: Request) -> int:
    """Return the record that an answer must hold; 0 for any."""
    asked = request.headers.get("kimi-after", "0")
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 19):
        raise UsageError(f"Kimi-After is no number of a record: {asked[:20]!r}. Leave it out.")
    return int(asked)


def _format_event(event: Event) -> str:
    said = json.dumps(plain(event), ensure_ascii=False)
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {said}\n\n"
