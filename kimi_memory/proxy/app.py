"""The proxy as an application: a request in, memory beside it, the model's answer out.

It speaks ASGI itself: what a server sends must leave as it came, also where it breaks off.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kimi_memory.errors import KimiMemoryError, ServerError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.proxy import protocols
from kimi_memory.proxy.chat import Reply, chat_of, is_aside
from kimi_memory.proxy.conversation import Asker
from kimi_memory.proxy.memory_bridge import Companion, Exchange
from kimi_memory.proxy.protocols import Dialect
from kimi_memory.proxy.upstream import HOP, Upstream, pieces
from kimi_memory.server import errors
from kimi_memory.server.auth import PREFIX as OUR_TOKEN
from kimi_memory.server.auth import Door, Names, headers_of
from kimi_memory.server.principal import Caller, Namespace
from kimi_memory.server.rate_limit import BODY_SECONDS, too_large, too_slow
from kimi_memory.server.workers import Desk

if TYPE_CHECKING:
    import httpx

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

OURS = b"x-kimi-memory"
"""What the names of our own headers begin with; they go no further."""
MOST_BYTES = 64 * 1024 * 1024
"""The largest chat; images in it are counted as they are sent."""
WHOLE_SECONDS = 120.0
"""So long a chat may take to arrive, however steadily it does."""
_TOKEN = regex(rf"{OUR_TOKEN}[\w-]{{43}}")
"""A token of ours, wherever a client puts it; no model server gets one."""
_KEYS = ("authorization", "api-key", "x-api-key")
_WHOSE = ("user", "session")
_CORS = b"access-control-"
log = logging.getLogger("kimi_memory.proxy")


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    raw: tuple[tuple[bytes, bytes], ...]
    """The same, as they were sent."""
    receive: Receive

    @classmethod
    def from_scope(cls, scope: Mapping[str, Any], receive: Receive) -> Request:
        """Return the request of a connection."""
        path = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
        query = scope["query_string"].decode("latin-1")
        headers = headers_of(scope["headers"])
        raw = tuple(scope["headers"])
        return cls(scope["method"], path.decode("latin-1"), query, headers, raw, receive)

    async def body(self) -> AsyncIterator[bytes]:
        """Yield what is sent with it."""
        while True:
            try:
                # For each piece, so that a large chat may take its time; `whole` limits the sum.
                async with asyncio.timeout(BODY_SECONDS):
                    message = await self.receive()
            except TimeoutError as error:
                raise too_slow() from error
            if message["type"] == "http.disconnect":
                raise ServerError("The client went away. Send it again.", status=400, code="left")
            yield message.get("body", b"")
            if not message.get("more_body"):
                return

    async def whole(self) -> bytes:
        """Return all that is sent with it."""
        raw = bytearray()
        try:
            async with asyncio.timeout(WHOLE_SECONDS):
                async for piece in self.body():
                    raw += piece
                    if len(raw) > MOST_BYTES:
                        raise too_large(MOST_BYTES)
        except TimeoutError as error:
            raise too_slow() from error
        return bytes(raw)


class Proxy:
    """The ASGI application in front of one model server.

    Args:
        desk: of the memory.
        door: lets clients in.
        companion: looks into the memory, and keeps what is said.
        upstream: the model server.
        names: pages that may call it.
        space: project and agent of chats that name none.
    """

    def __init__(
        self, desk: Desk, door: Door, companion: Companion, upstream: Upstream, *,
        names: Names, space: Namespace,
    ) -> None:  # fmt: skip
        self._desk, self._door, self._companion = desk, door, companion
        self._upstream, self._names, self._space = upstream, names, space

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request.from_scope(scope, receive)
        origin = request.headers.get("origin", "")
        answer = _Answer(send, origin if origin in self._names.origins else "")
        try:
            self._door.check(request.headers)
            if not await self._answer_preflight(request, answer):
                await self._forward_request(request, answer)
        except ServerError as error:
            await answer.refuse(protocols.refusal_form(request.path), error)

    async def _answer_preflight(self, request: Request, answer: _Answer) -> bool:
        asked = request.headers.get("access-control-request-method")
        if request.method != "OPTIONS" or not answer.page or not asked:
            return False
        wanted = request.headers.get("access-control-request-headers", "")
        allowed = [
            (b"access-control-allow-methods", asked.encode("latin-1")),
            (b"access-control-allow-headers", wanted.encode("latin-1")),
        ]
        await answer.begin(204, allowed)
        await answer.end()
        return True

    async def _forward_request(self, request: Request, answer: _Answer) -> None:
        await self._identify_caller(request)
        dialect = protocols.dialect_of(request.method, request.path)
        # A compressed request passes by unread, like any other that is no chat.
        is_off = request.headers.get("x-kimi-memory", "").casefold() == "off"
        plain = "content-encoding" not in request.headers and not is_off
        headers = list(_yield_request_headers(request, chat=bool(dialect and plain)))
        url = self._upstream.address(request.path, _TOKEN.sub("", request.query))
        if dialect is None or not plain:
            chunked = "transfer-encoding" in request.headers
            # Chunks win over a length that comes with them; the two may differ.
            length = "" if chunked else request.headers.get("content-length", "")
            content = request.body() if chunked or length not in ("", "0") else b""
            # Without a length httpx would send chunks where the client did not.
            headers += [(b"content-length", length.encode())] if length else []
            await self._relay_answer(request, answer, (url, headers, content), None)
            return
        raw = await request.whole()
        # It may take its time: who was put out meanwhile is shown nothing, and heard no more.
        known = await self._identify_caller(request)
        caller = await asyncio.to_thread(self._admit, known)
        exchange = await self._chat_exchange(
            dialect, self._build_asker(request, caller, known), raw
        )
        content = _with_memory(dialect, raw, exchange) if exchange else raw
        listening = _Listening(self._companion, dialect, exchange) if exchange else None
        await self._relay_answer(request, answer, (url, headers, content), listening)

    async def _identify_caller(self, request: Request) -> Caller:
        try:
            return await self._door.caller(_find_token(request))
        except ServerError as error:
            if error.status != 401:
                raise
            raise ServerError(
                "A valid token is needed. Send 'X-Kimi-Memory-Token: …', or show it as the API "
                "key where the model server wants none.",
                status=401,
                code="unauthorized",
            ) from error

    def _admit(self, caller: Caller) -> Caller:
        """Return who chats, as far as a space of the memory lets them be heard and read from it.

        Raises:
            ServerError: it lets them do neither, or nobody knows.
        """
        try:
            guard = self._desk.guard
            return guard.narrow(caller) if guard else caller.of_no_space()
        except ServerError:
            raise
        except KimiMemoryError as error:
            status = errors.status_of(error)
            raise ServerError(str(error), status=status, code="forbidden") from error

    def _build_asker(self, request: Request, caller: Caller, known: Caller) -> Asker:
        authorization, headers = _find_token(request), request.headers
        project = headers.get("x-kimi-memory-project", "") or self._space.project
        agent = headers.get("x-kimi-memory-agent", "") or self._space.agent
        user, session = (
            _decode_header(headers.get(f"x-kimi-memory-{name}", "")) for name in _WHOSE
        )
        session = self._desk.memory.screen.pass_id(session) if session else ""
        space = caller.space.within(_decode_header(project), _decode_header(agent), user, session)
        return Asker(
            caller=caller, space=space, user=space.user, session=space.session,
            stays=lambda: self._door.still_opens(authorization, known),
        )  # fmt: skip

    async def _chat_exchange(self, dialect: Dialect, asker: Asker, raw: bytes) -> Exchange | None:
        """Return a chat with what memory says to it; None for what is no conversation."""
        try:
            body = json.loads(raw)
        # It passes on unread: the model server says what is wrong with it.
        except (ValueError, RecursionError):
            return None
        if not isinstance(body, dict):
            return None
        chat = chat_of(dialect.listed(body))
        if is_aside(body, chat):
            return None
        session = asker.session or protocols.session_of(body)
        after = str(body.get("previous_response_id") or "")
        exchange = await self._companion.join(replace(asker, session=session), chat, after)
        if not dialect.compacts:
            return exchange
        messages = dialect.beside_messages(body, exchange.blocks or {})
        return await self._companion.fit(exchange, messages)

    async def _relay_answer(
        self,
        request: Request,
        answer: _Answer,
        asked: tuple[str, list[tuple[bytes, bytes]], bytes | AsyncIterator[bytes]],
        listening: _Listening | None,
    ) -> None:
        url, headers, content = asked
        found = await self._upstream.ask(request.method, url, headers, content)
        reply = listening.to(found) if listening else None
        passing = asyncio.ensure_future(answer.whole(found, reply, listening))
        leaving = asyncio.ensure_future(_await_disconnect(request.receive))
        await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if not passing.done():
            # The client has gone: reading on would only keep the model busy.
            passing.cancel()
            await asyncio.wait({passing})
        if not passing.cancelled() and (error := passing.exception()):
            # Nothing more is sent, so that the client sees the answer break off, as it did.
            log.warning("%s", error if isinstance(error, KimiMemoryError) else type(error).__name__)


def _find_token(request: Request) -> str:
    """Return what a client shows to us: a token, alone or in the place of a model server's key."""
    shown = (_TOKEN.search(request.headers.get(name, "")) for name in _KEYS)
    token = request.headers.get("x-kimi-memory-token") or next((one[0] for one in shown if one), "")
    return f"Bearer {token}"


class _Listening:
    """Hears an exchange out, and tells memory."""

    def __init__(self, companion: Companion, dialect: Dialect, exchange: Exchange) -> None:
        self._companion, self._dialect, self._chat_exchange = companion, dialect, exchange

    def to(self, found: httpx.Response) -> Reply | None:
        """Begin to listen to an answer, if it is one."""
        # What was refused is sent again, and is kept then.
        if found.status_code != 200:
            return None
        self._companion.keep_request(self._chat_exchange)
        kind, encoding = (found.headers.get(f"content-{name}", "") for name in ("type", "encoding"))
        return Reply(self._dialect.heard, kind, encoding)

    def end(self, reply: Reply) -> None:
        """Keep what was heard."""
        self._companion.keep_answer(self._chat_exchange, reply.text(), reply.id)


class _Answer:
    """What goes back to the client.

    Args:
        send: sends a message of ASGI.
        page: of a browser, that may read it; empty for none.
    """

    def __init__(self, send: Send, page: str) -> None:
        self._send, self.page = send, page

    async def begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Send status and headers."""
        if self.page:
            # A browser refuses an answer that has this header twice.
            headers = [one for one in headers if one[0] != b"access-control-allow-origin"]
            headers += [(b"access-control-allow-origin", self.page.encode()), (b"vary", b"origin")]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def end(self, body: bytes = b"") -> None:
        """Send the last bytes."""
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def whole(
        self, found: httpx.Response, reply: Reply | None, listening: _Listening | None
    ) -> None:
        """Send an answer as it arrives, and keep what was heard of it, however it ends."""
        try:
            await self.begin(
                found.status_code, list(_yield_response_headers(found, page=bool(self.page)))
            )
            async for piece in pieces(found):
                if reply:
                    reply.feed(piece)
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            if reply and listening:
                listening.end(reply)
        await self.end()

    async def refuse(self, form: Dialect, error: ServerError) -> None:
        """Send why nothing was passed on, in the form that the client knows."""
        status = errors.status_of(error)
        body = json.dumps(form.refused(error.code, str(error)), ensure_ascii=False).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        await self.begin(status, headers)
        await self.end(body)


def _with_memory(dialect: Dialect, raw: bytes, exchange: Exchange) -> bytes:
    """Return a request with the blocks of memory in it; its own bytes where there are none."""
    if not exchange.standing and not exchange.blocks and exchange.messages is None:
        return raw
    body = json.loads(raw)
    messages = exchange.messages or dialect.beside_messages(body, exchange.blocks or {})
    placed = dialect.stood(body, messages, exchange.standing)
    return json.dumps(placed, separators=(",", ":")).encode()


def _yield_request_headers(request: Request, *, chat: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers that go on; an answer that is listened to comes uncompressed."""
    # Host and length would be those of the request that came in.
    left_out = {b"host", b"content-length", *HOP, *([b"accept-encoding"] if chat else [])}
    for name, value in request.raw:
        low = name.lower()
        ours = low.startswith(OURS) or _TOKEN.search(value.decode("latin-1"))
        if low not in left_out and not ours:
            yield name, value
    if chat:
        yield b"accept-encoding", b"identity"


def _yield_response_headers(found: httpx.Response, *, page: bool) -> Iterator[tuple[bytes, bytes]]:
    for name, value in found.headers.raw:
        low = name.lower()
        if low not in HOP and not (page and low.startswith(_CORS)):
            yield low, value


def _decode_header(header: str) -> str:
    """Return what a header says; programs send UTF-8 where the standard knows only Latin."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        # It was Latin after all.
        return header


async def _await_disconnect(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
