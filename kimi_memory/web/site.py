"""The pages of a server: seats at the door, a table behind it, one form for refusals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount
from starlette.routing import Route as Way

from kimi_memory.errors import KimiMemoryError, NotFoundError, ServerError, UsageError
from kimi_memory.server import errors
from kimi_memory.server.app import read_body
from kimi_memory.server.auth import headers_of
from kimi_memory.server.guard import Request as Guarded
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.web.captions import LANGUAGES
from kimi_memory.web.guard import ASSET, PAGE, check_sender
from kimi_memory.web.live import Live
from kimi_memory.web.page_types import MOST_FIELDS, ROOT, Asked, Download, Page, Redirect, View
from kimi_memory.web.rendering import Frame
from kimi_memory.web.room import Room
from kimi_memory.web.seats import SEAT_SECONDS, Seat, Seats
from kimi_memory.web.sign_in import BACK, SENT_SECONDS, Sent, back_of, host_of

# Above any note; a larger body is no form of ours.
FORM_BYTES = 256 * 1024
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_NOBODY = Caller("nobody", frozenset())
Answer = Callable[[Request], Awaitable[Response]]


class Site:
    """The pages of one memory, or of several.

    Args:
        rooms: one for each memory; the first is that of the API.
        seats: who sits at the pages.
        live: tells open pages what is stored.
    """

    def __init__(self, rooms: Sequence[Room], seats: Seats, live: Live) -> None:
        self._rooms, self.seats, self._live = rooms, seats, live
        self._frame, self._sent = Frame(), Sent(time.monotonic)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the ways to all pages."""
        ways = [
            Way("/enter", self._show_door, methods=["GET"]),
            Way("/enter", self._enter, methods=["POST"]),
            Way("/signed-in", self._come_back, methods=["GET"]),
            Way("/leave", self._leave, methods=["POST"]),
            Way("/language", self._choose_language, methods=["POST"]),
            Way("/static/{mark}/{name}", self._serve_static, methods=["GET"]),
        ]
        if len(self._rooms) > 1:
            ways += [Way("/", self._lead_to_memories), Way("/memories", self._show_memories)]
        inner = Starlette(
            routes=[*ways, *(way for room in self._rooms for way in self._ways_of(room))],
            exception_handlers={
                KimiMemoryError: self._refuse,
                HTTPException: self._refuse_http,
                Exception: self._refuse_fault,
            },
        )
        return [Way("/", self._lead_here, methods=["GET"]), Mount(ROOT, app=inner)]

    def _ways_of(self, room: Room) -> Iterator[BaseRoute]:
        below = room.base.removeprefix(ROOT)
        for page in room.pages:
            handler = self._make_handler(room, page)
            yield Way(f"{below}{page.path}", handler, methods=[page.method])
        yield Way(f"{below}/sign-in", partial(self._send_away, room), methods=["GET"])

        async def follow(request: Request) -> Response:
            seat = self._find_seat(request, room)
            if seat is None:
                raise HTTPException(401)
            caller = await room.admit(seat.caller, Guarded("follow", "pages"))

            def stays() -> bool:
                seated = self._find_seat(request, room) is not None
                return seated and room.desk.still_admits(seat.caller, caller)

            lines = await self._live.follow(room.desk, caller.space, stays)
            return StreamingResponse(lines, media_type="text/event-stream", headers=dict(PAGE))

        yield Way(f"{below}/live", follow, methods=["GET"])

    async def _lead_here(self, request: Request) -> Response:
        # Programs that ask for nothing in particular get the answer they always got.
        if "text/html" not in request.headers.get("accept", ""):
            raise HTTPException(404)
        return _lead(f"{ROOT}/")

    def _make_handler(self, room: Room, page: Page) -> Answer:
        async def answer(request: Request) -> Response:
            form = await self._read_form(request) if page.method == "POST" else {}
            seat = self._find_seat(request, room)
            if seat is None:
                if page.method == "GET":
                    return _lead(f"{ROOT}/enter")
                raise ServerError(
                    "Nobody sits here. Open the pages anew.", status=401, code="no_seat"
                )
            given = dict(form or _parse_fields(request.url.query))
            given |= {name: (str(value),) for name, value in request.path_params.items()}
            shown = seat.caller
            guarded = _guarded(page, given)
            seat = replace(seat, caller=await room.admit(shown, guarded))
            if page.whole and seat.caller.space:
                raise NotFoundError("page", request.url.path)
            if not await room.is_open():
                values = {"percent": room.opened_percent}
                return self._page(request, seat, View("opening", "opening", values), room=room)
            asked, admitted = Asked(seat.caller, given), seat.caller

            def stays() -> bool:
                now = self._find_seat(request, room)
                seated = now is not None and now.caller == shown
                return seated and room.desk.still_admits(shown, admitted, guarded)

            def render(view: View, counts: Mapping[str, int]) -> str:
                return self._render(request, seat, view, room, counts)

            return _respond(room, await room.carry(page, asked, render, stays))

        answer.__name__ = f"page_{page.deed.__name__}"
        return answer

    def _find_seat(self, request: Request, room: Room) -> Seat | None:
        seat = self.seats.find(_secret(request))
        if seat is None or seat.root not in ("", str(room.desk.root)):
            return None
        stands = seat.signer is None or seat.signer == room.desk.issued.signer
        return seat if stands else None

    async def _read_form(self, request: Request) -> Mapping[str, tuple[str, ...]]:
        check_sender(headers_of(request.scope["headers"]))
        raw = await read_body(request, FORM_BYTES)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if kind not in ("application/x-www-form-urlencoded", ""):
            raise ServerError(
                "This is no form. Send it from the page.", status=415, code="not_a_form"
            )
        return _parse_fields(raw.decode("utf-8", "replace"))

    async def _show_door(self, request: Request) -> Response:
        code = request.query_params.get("code", "")[:100]
        # The time in which a person looks for the button is enough for most memories.
        self._rooms[0].begin()
        return self._page(request, None, self._door(code))

    def _door(self, code: str = "", *, refused: bool = False) -> View:
        signers = [(room, room.desk.issued.signer) for room in self._rooms]
        issuers = [
            {"base": room.base, "memory": room.place.memory, "host": host_of(signer)}
            for room, signer in signers
            if signer is not None
        ]
        return View("enter", "enter", {"code": code, "refused": refused, "issuers": issuers})

    async def _send_away(self, room: Room, request: Request) -> Response:
        """Send a browser to the issuer of a memory's space."""
        guard = room.desk.guard
        if guard is None or guard.people.signer is None:
            raise HTTPException(404)
        back = back_of(request.url.netloc)
        begun = await asyncio.to_thread(guard.people.begin, back)
        made = _lead(begun.url)
        # "Strict" would not be shown by a browser that another site sends back.
        made.set_cookie(
            f"{_cookie(request)}_in", self._sent.keep((room, begun)), max_age=SENT_SECONDS,
            path=BACK, httponly=True, samesite="lax", secure=back.startswith("https:"),
        )  # fmt: skip
        return made

    async def _come_back(self, request: Request) -> Response:
        """Give a seat to a person whom an issuer sent back."""
        kept = self._sent.take(request.cookies.get(f"{_cookie(request)}_in", ""))
        if kept is None or (guard := kept[0].desk.guard) is None:
            return self._page(request, None, self._door(refused=True), status=401)
        room, begun = kept
        signer = guard.people.signer
        caller = await asyncio.to_thread(guard.finish_sign_in, begun, str(request.url))
        if caller is None:
            return self._page(request, None, self._door(refused=True), status=401)
        secret = self.seats.give(caller, room.desk.root, signer)
        # The next page is asked for by ours: to one that another site leads to, a browser
        # shows no seat.
        made = self._page(request, None, View("signed_in", "enter", {"base": room.base}), room=room)
        self._set_seat(request, made, secret)
        made.delete_cookie(f"{_cookie(request)}_in", path=BACK)
        return made

    async def _enter(self, request: Request) -> Response:
        asked = Asked(_NOBODY, await self._read_form(request))
        secret = self.seats.take(asked.get("code"), asked.get("token"))
        if not secret:
            return self._page(request, None, self._door(refused=True), status=401)
        self._rooms[0].begin()
        made = _lead(f"{ROOT}/")
        self._set_seat(request, made, secret)
        return made

    @staticmethod
    def _set_seat(request: Request, made: Response, secret: str) -> None:
        made.set_cookie(
            _cookie(request), secret, max_age=SEAT_SECONDS, path=ROOT, httponly=True,
            samesite="strict", secure=request.url.scheme == "https",
        )  # fmt: skip

    async def _leave(self, request: Request) -> Response:
        await self._read_form(request)
        self.seats.leave(_secret(request))
        made = _lead(f"{ROOT}/enter")
        made.delete_cookie(_cookie(request), path=ROOT)
        return made

    async def _choose_language(self, request: Request) -> Response:
        asked = Asked(_NOBODY, await self._read_form(request))
        if (lang := asked.get("lang")) in LANGUAGES:
            self.seats.speak(_secret(request), lang)
        return _lead(f"{ROOT}/{asked.get('back', '/').lstrip('/')}")

    async def _lead_to_memories(self, request: Request) -> Response:
        return _lead(f"{ROOT}/memories")

    async def _show_memories(self, request: Request) -> Response:
        seat = self.seats.find(_secret(request))
        rooms = [room for room in self._rooms if self._find_seat(request, room)]
        if seat is None or not rooms:
            return _lead(f"{ROOT}/enter")
        # Who may come into one alone, or sees a part of it, has nothing to choose.
        if len(rooms) == 1:
            return _lead(f"{rooms[0].base}/")
        shown = [
            (room.place, str(room.desk.root), await room.look_in(seat.caller) if opened else None)
            for room, opened in [(room, await room.is_open()) for room in rooms]
        ]
        return self._page(request, seat, View("memories", "memories", {"memories": shown}))

    async def _serve_static(self, request: Request) -> Response:
        name, mark = request.path_params["name"], request.path_params["mark"]
        found = self._frame.assets.get(name)
        if found is None or found.mark != mark:
            raise HTTPException(404)
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(found.raw, media_type=kind, headers=dict(ASSET))

    def _render(
        self, request: Request, seat: Seat | None, view: View, room: Room | None,
        counts: Mapping[str, int] | None = None,
    ) -> str:  # fmt: skip
        place = (room or self._room_of(request)).place
        lang = _language(request, seat)
        address = (request.url.path, request.url.query)
        return self._frame.render(view, place, address, seat, lang, counts=counts)

    def _room_of(self, request: Request) -> Room:
        """Return the room of an address; the first one where it leads into none."""
        for room in self._rooms:
            if f"{request.url.path}/".startswith(f"{room.base}/"):
                return room
        return self._rooms[0]

    def _page(
        self, request: Request, seat: Seat | None, view: View, *, status: int = 200,
        room: Room | None = None,
    ) -> Response:  # fmt: skip
        text = self._render(request, seat, view, room)
        return Response(text, status, media_type="text/html", headers=dict(PAGE))

    async def _refuse(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, KimiMemoryError)
        said = errors.body_of(error, str(self._room_of(request).desk.root))["error"]
        return self._refusal(request, errors.status_of(error), said["message"], said["remedy"])

    async def _refuse_http(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return self._refusal(request, error.status_code, "", "")

    async def _refuse_fault(self, request: Request, error: Exception) -> Response:
        return self._refusal(request, 500, type(error).__name__, "")

    def _refusal(self, request: Request, status: int, message: str, remedy: str) -> Response:
        values = {"status": status, "message": message, "remedy": remedy}
        seat, room = self.seats.find(_secret(request)), self._room_of(request)
        if seat is not None and self._find_seat(request, room) is None:
            # The frame of a page names its memory and links to all that is there.
            rooms = [one for one in self._rooms if self._find_seat(request, one)]
            # An issuer that signs nobody in any more leaves a seat at none of them.
            seat, room = (seat, rooms[0]) if rooms else (None, room)
        view = View("refusal", "refusal", values)
        return self._page(request, seat, view, status=status, room=room)


def _respond(room: Room, found: str | Redirect | Download) -> Response:
    if isinstance(found, Redirect):
        return _lead(f"{room.base}{found.to}")
    if isinstance(found, Download):
        named = {**PAGE, "content-disposition": f'attachment; filename="{found.name}"'}
        return Response(found.text, media_type=found.kind, headers=named)
    return Response(found, media_type="text/html", headers=dict(PAGE))


def _lead(to: str) -> RedirectResponse:
    return RedirectResponse(to, 303, headers=dict(PAGE))


def _parse_fields(text: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    try:
        pairs = parse_qsl(
            text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace"
        )
    except ValueError as error:
        raise UsageError("The form has too many fields. Choose fewer at a time.") from error
    for name, value in pairs:
        found[name] = (*found.get(name, ()), value.replace("\r\n", "\n"))
    return found


def _secret(request: Request) -> str:
    return request.cookies.get(_cookie(request), "")


def _cookie(request: Request) -> str:
    # Cookies know no ports: two servers on a machine would take each other's seats away.
    return f"kimi_seat_{request.url.port or 80}"


def _language(request: Request, seat: Seat | None) -> str:
    if seat is not None and seat.lang:
        return seat.lang
    first = request.headers.get("accept-language", "").strip().casefold()
    return "zh" if first.startswith("zh") else "en"


def _guarded(page: Page, given: Mapping[str, tuple[str, ...]]) -> Guarded:
    """Return what a page asks of the policies: who is bound to a part has none that writes."""
    named = {name: values[-1] for name, values in given.items() if values and name in ("q", "id")}
    name = page.deed.__name__ if page.whole else "recall" if page.path == "/search" else "get"
    asked = {"query": named.get("q"), "id": named.get("id")}
    return Guarded(name, "pages", Scope.PERSON, asked)
