"""A browser without a screen: it keeps cookies, says where it comes from, runs nothing."""

from __future__ import annotations

import asyncio
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from kimi_memory.api.options import Home
from kimi_memory.server.server import Serving
from kimi_memory.server.workers import Desk
from kimi_memory.web.page_types import View
from kimi_memory.web.rendering import Frame
from kimi_memory.web.room import Room
from kimi_memory.web.seats import OWNER, Seat, make_code
from kimi_memory.web.site_app import make_app

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg/onload=alert(1)>",
    "javascript:alert(1)//[x](javascript:alert(1))",
    "</textarea><script>alert(1)</script>",
    "'-alert(1)-'",
    "{{ 7*7 }}{% set x = 1 %}${7*7}",
    '<a href="jav&#x09;ascript:alert(1)">x</a>',
    "<style>@import'//evil.test'</style><base href=//evil.test>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "\u202etxt.exe\u202c \u200bzero",
    "]]><!--<img title='--><img src=x onerror=alert(1)>'>",
    "<form action=//evil.test><button>x",
    "<math><mtext></p><style><img src=x onerror=alert(1)></style>",
    # Ways out of an attribute, a title, a list, a comment
    '" autofocus onfocus=alert(1) x="',
    "' onmouseover='alert(1)",
    "</title><script>alert(1)</script>",
    "</option></select><img src=x onerror=alert(1)>",
    "</pre><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "</a><a href=javascript:alert(1)>x</a>",
    "`onclick=alert(1)`",
    'x" style="background:url(//evil.test)',
    # Elements that run or load by themselves
    "<body onload=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.test'>",
    "<details open ontoggle=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)>",
    "<keygen autofocus onfocus=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg/>#x'>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><foreignObject><script>alert(1)</script></foreignObject></svg>",
    "<isindex type=image src=x onerror=alert(1)>",
    "<frameset onload=alert(1)>",
    "<dialog open onclose=alert(1)>",
    "<portal src=//evil.test>",
    # Names that a browser reads otherwise than a filter does
    "<ScRiPt>alert(1)</sCrIpT>",
    "<scr<script>ipt>alert(1)</script>",
    "<img src=x onerror\n=alert(1)>",
    "<img/src=x/onerror=alert(1)>",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "\\u003cscript\\u003ealert(1)",
    "+ADw-script+AD4-alert(1)",
    # Addresses and templates
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "{{ self.__init__.__globals__ }}{% include '/etc/passwd' %}",
)
assert len(PAYLOADS) == 60
HOST = "127.0.0.1:8378"
ALLOWED = {
    *("html", "head", "meta", "title", "link", "script", "body", "a", "header", "form", "label"),
    *("input", "button", "nav", "ul", "li", "main", "div", "p", "h1", "h2", "h3", "section", "b"),
    *("table", "thead", "tbody", "tr", "th", "td", "meter", "ol", "time", "code", "span", "small"),
    *("details", "summary", "aside", "select", "option", "mark", "s", "dl", "dt", "dd", "article"),
    *("blockquote", "pre", "textarea", "ins", "del", "i", "kbd", "br", "footer"),
    *("svg", "rect", "circle", "line", "text", "fieldset", "legend"),
}


class Reader(HTMLParser):
    """Reads a page as a browser does, and notes what stands in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(text)

    def _note_tag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def _note_text(self, data: str) -> None:
        self.said += data

    handle_starttag, handle_data = _note_tag, _note_text

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a" and "href" in attrs]


class Pages:
    """The pages of one memory, and a seat at them."""

    def __init__(self, root: Path, home: Home, beside: tuple[Path, ...] = ()) -> None:
        self.root, self.home = root, home
        self.desk = Desk(root, home)
        self.tokens = self.desk.tokens()
        self.others = [Desk(other, home) for other in beside]
        self.stop = asyncio.Event()
        self.cookies: dict[str, str] = {}
        self._make_app()

    def _make_app(self) -> None:
        serving = Serving(root=self.root, home=self.home)
        self.app = make_app(serving, self.desk, self.tokens, self.stop, self.others)

    def add_plugin(self, plugin: object) -> None:
        """Serve the same memory with one more plugin."""
        self.desk.memory.host.register(plugin, "added", "test")
        self.cookies = {}
        self._make_app()

    def opening_page(self) -> str:
        """Return the page that stands in for others while the memory is opened."""
        room, view = Room(self.desk), View("opening", "opening", {"percent": 0})
        return Frame().render(view, room.place, ("/ui/", ""), Seat(OWNER, 0.0), "en")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for desk in (self.desk, *self.others):
            desk.close()

    def send(
        self, method: str, path: str, cookies: dict[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        async def sent() -> httpx.Response:
            how = {"transport": httpx.ASGITransport(app=self.app), "cookies": cookies}
            async with httpx.AsyncClient(base_url=f"http://{HOST}", **how) as client:
                return await client.request(method, path, **options)

        return asyncio.run(sent())

    def get(self, path: str, seat: str | None = None, **headers: str) -> httpx.Response:
        return self.send("GET", path, headers=headers, cookies=self._cookie(seat))

    def post(self, path: str, form: dict[str, Any], **headers: str) -> httpx.Response:
        headers = headers or {"sec-fetch-site": "same-origin"}
        return self.send("POST", path, data=form, headers=headers, cookies=self._cookie(None))

    def _cookie(self, seat: str | None) -> dict[str, str]:
        return self.cookies if seat is None else {"kimi_seat_8378": seat}

    def code(self, now: float | None = None) -> str:
        return make_code(self.home, self.root, time.time() if now is None else now)

    def sit(self, **form: str) -> httpx.Response:
        """Take a seat, with a code where no token is given."""
        said = self.post("/ui/enter", form or {"code": self.code()})
        found = re.match(r"(kimi_seat_\d+)=([^;]+)", said.headers.get("set-cookie", ""))
        self.cookies = {found[1]: found[2]} if found else {}
        return said

    def read(self, path: str, **headers: str) -> str:
        if not self.cookies:
            self.sit()
        answer = self.get(path, **headers)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[-800:])
        return answer.text
