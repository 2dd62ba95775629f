"""The pages of a server: seats at the door, a table behind it, one form for refusals."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.resources import files
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.routing import Route as Way

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home
from kimi_memory.errors import KimiMemoryError, NotFoundError, ServerError, UsageError
from kimi_memory.formats.templates import fill_page
from kimi_memory.server import errors
from kimi_memory.server.app import read_body
from kimi_memory.server.auth import headers_of
from kimi_memory.server.principal import Caller
from kimi_memory.server.tokens import Tokens
from kimi_memory.server.workers import Desk
from kimi_memory.web.captions import LANGUAGES, captions
from kimi_memory.web.guard import ASSET, PAGE, check_sender
from kimi_memory.web.page_table import EVERYBODY, NAVIGATION, PAGES
from kimi_memory.web.page_types import ROOT, Asked, Page, Redirect, View, link
from kimi_memory.web.seats import SEAT_SECONDS, Seat, Seats

FORM_BYTES = 256 * 1024
FIELDS = 2000
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_NOBODY = Caller("nobody", frozenset())
Answer = Callable[[Request], Awaitable[Response]]


class Site:
    """The pages of one memory.

    Args:
        desk: carries out what pages ask for.
        tokens: those of the memory; one of a person opens the pages.
        home: the user's own directories.
    """

    def __init__(self, desk: Desk, tokens: Tokens, home: Home) -> None:
        self._desk, self._root = desk, str(desk.root)
        self.seats = Seats(home, desk.root, tokens, time.time)
        self._static = dict(_read_static())

    def routes(self) -> Sequence[BaseRoute]:
        """Return the ways to all pages."""
        ways = [
            Way("/enter", self._show_door, methods=["GET"]),
            Way("/enter", self._enter, methods=["POST"]),
            Way("/leave", self._leave, methods=["POST"]),
            Way("/language", self._choose_language, methods=["POST"]),
            Way("/static/{mark}/{name}", self._serve_static, methods=["GET"]),
            *(Way(page.path, self._make_handler(page), methods=[page.method]) for page in PAGES),
        ]
        inner = Starlette(
            routes=ways,
            exception_handlers={
                KimiMemoryError: self._refuse,
                HTTPException: self._refuse_http,
                Exception: self._refuse_fault,
            },
        )
        return [Way("/", self._lead_here, methods=["GET"]), Mount(ROOT, app=inner)]

    async def _lead_here(self, request: Request) -> Response:
        # Programs that ask for nothing in particular get the answer they always got.
        if "text/html" not in request.headers.get("accept", ""):
            raise HTTPException(404)
        return RedirectResponse(f"{ROOT}/", 303, headers=dict(PAGE))

    def _make_handler(self, page: Page) -> Answer:
        async def answer(request: Request) -> Response:
            form = await self._read_form(request) if page.method == "POST" else {}
            seat = self.seats.find(_secret(request))
            if seat is None:
                if page.method == "GET":
                    return RedirectResponse(link("/enter"), 303, headers=dict(PAGE))
                raise ServerError(
                    "Nobody sits here. Open the pages anew.", status=401, code="no_seat"
                )
            if page.whole and seat.caller.space:
                raise NotFoundError("page", request.url.path)
            asked = Asked(seat.caller, _given(request, form))

            def work(memory: Memory) -> View | Redirect | str:
                found = page.deed(memory, asked)
                # Rendered here: what a template asks for is read from this memory.
                return found if isinstance(found, Redirect) else self._render(request, seat, found)

            carry = self._desk.change if page.method == "POST" else self._desk.read
            found = await carry(work, seat.caller)
            if isinstance(found, Redirect):
                return RedirectResponse(found.to, 303, headers=dict(PAGE))
            return Response(found, media_type="text/html", headers=dict(PAGE))

        answer.__name__ = f"page_{page.deed.__name__}"
        return answer

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
        view = View("enter", "enter", {"code": code, "refused": False})
        return Response(
            self._render(request, None, view), media_type="text/html", headers=dict(PAGE)
        )

    async def _enter(self, request: Request) -> Response:
        asked = Asked(_NOBODY, await self._read_form(request))
        secret = self.seats.take(asked.get("code"), asked.get("token"))
        if not secret:
            view = View("enter", "enter", {"code": "", "refused": True})
            text = self._render(request, None, view)
            return Response(text, 401, media_type="text/html", headers=dict(PAGE))
        made = RedirectResponse(f"{ROOT}/", 303, headers=dict(PAGE))
        made.set_cookie(
            _cookie(request), secret, max_age=SEAT_SECONDS, path=ROOT, httponly=True,
            samesite="strict", secure=request.url.scheme == "https",
        )  # fmt: skip
        return made

    async def _leave(self, request: Request) -> Response:
        await self._read_form(request)
        self.seats.leave(_secret(request))
        made = RedirectResponse(link("/enter"), 303, headers=dict(PAGE))
        made.delete_cookie(_cookie(request), path=ROOT)
        return made

    async def _choose_language(self, request: Request) -> Response:
        asked = Asked(_NOBODY, await self._read_form(request))
        if (lang := asked.get("lang")) in LANGUAGES:
            self.seats.speak(_secret(request), lang)
        back = asked.get("back", "/")
        return RedirectResponse(f"{ROOT}/{back.lstrip('/')}", 303, headers=dict(PAGE))

    async def _serve_static(self, request: Request) -> Response:
        name, mark = request.path_params["name"], request.path_params["mark"]
        found = self._static.get(name)
        if found is None or found[0] != mark:
            raise HTTPException(404)
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(found[1], media_type=kind, headers=dict(ASSET))

    def _render(self, request: Request, seat: Seat | None, view: View) -> str:
        lang = _language(request, seat)
        told = captions(lang)
        query = request.query_params
        path = request.url.path.removeprefix(ROOT)
        bound = seat is not None and bool(seat.caller.space)
        said = query.get("said", "")
        # Only names of captions: an address must not put words of its own on a page.
        flash = {"said": told.get(f"said_{said}", ""), "job": query.get("job", "")[:80]}
        return fill_page(
            view.template,
            **view.values,
            t=told,
            lang=lang,
            title=told.get(view.title, view.title),
            here=path,
            section=f"/{path.split('/')[1]}",
            address=f"{path}?{request.url.query}" if request.url.query else path,
            navigation=[
                (told[name], link(to), key, to)
                for name, to, key in NAVIGATION
                if not bound or to in EVERYBODY
            ],
            seated=seat is not None,
            bound=bound,
            memory_name=self._desk.memory.settings.memory.name or self._desk.root.name,
            flash=flash,
            asset={name: link(f"/static/{one[0]}/{name}") for name, one in self._static.items()},
        )

    async def _refuse(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, KimiMemoryError)
        said = errors.body_of(error, self._root)["error"]
        return self._refusal(request, errors.status_of(error), said["message"], said["remedy"])

    async def _refuse_http(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return self._refusal(request, error.status_code, "", "")

    async def _refuse_fault(self, request: Request, error: Exception) -> Response:
        return self._refusal(request, 500, type(error).__name__, "")

    def _refusal(self, request: Request, status: int, message: str, remedy: str) -> Response:
        values = {"status": status, "message": message, "remedy": remedy}
        seat = self.seats.find(_secret(request))
        text = self._render(request, seat, View("refusal", "refusal", values))
        return Response(text, status, media_type="text/html", headers=dict(PAGE))


def _given(request: Request, form: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    place = {name: (str(value),) for name, value in request.path_params.items()}
    return {**(form or _parse_fields(request.url.query)), **place}


def _parse_fields(text: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    try:
        pairs = parse_qsl(text, max_num_fields=FIELDS, errors="replace")
    except ValueError as error:
        raise UsageError("The form has too many fields. Choose fewer at a time.") from error
    for name, value in pairs:
        # A form sends lines that end as those of Windows.
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


def _read_static() -> list[tuple[str, tuple[str, bytes]]]:
    """Return name, mark and content of the files that pages use; the mark is of the content."""
    folder = files("kimi_memory.web") / "static"
    contents = [(one.name, one.read_bytes()) for one in folder.iterdir()]
    return [(name, (hashlib.sha256(raw).hexdigest()[:8], raw)) for name, raw in contents]
