"""The pages whole: who comes in, what a page may hold, what reading leaves behind."""

from __future__ import annotations

import hashlib
import html
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from fakes.pages import ALLOWED, PAYLOADS, Pages, Reader

from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.web.page_table import NAVIGATION, PAGES
from kimi_memory.web.page_types import View
from kimi_memory.web.rendering import Frame
from kimi_memory.web.room import Room
from kimi_memory.web.seats import OWNER, Seat

READ = [
    *(f"/ui{page.path}" for page in PAGES if page.method == "GET" and "{" not in page.path),
    "/ui/held?status=superseded",
    "/ui/held?q=port&sort=key",
    "/ui/search?q=MongoDB&old=1",
    "/ui/search?q=lt+amp+quot",
    "/ui/sessions/talk",
    "/ui/sessions/talk?q=lt",
    "/ui/told?purpose=task&q=port",
    "/ui/file?path=MEMORY.md",
    "/ui/forget?key=greeting",
    "/ui/health?check=1",
    "/ui/blame?path=MEMORY.md",
    "/ui/usage?days=365",
    "/ui/graph?hops=3&id=",
    "/ui/audit",
    "/ui/audit?go=1",
    "/ui/evals",
]
READ = [path for path in READ if path not in ("/ui/file", "/ui/blame")]


def everything(pages: Pages) -> list[str]:
    """Return the addresses of all that is read, each note and each job among them."""
    listed = "".join(pages.read(f"/ui/{name}") for name in ("held", "timeline", "jobs"))
    found = {link for link in Reader(listed).links() if link.startswith(("/ui/note", "/ui/jobs/"))}
    notes = [link for link in found if link.startswith("/ui/note/")]
    more = [f"{note}/history" for note in notes[:5]]
    more += [f"/ui/graph?id={note.removeprefix('/ui/note/')}" for note in notes[:5]]
    return [*READ, *sorted(found), *more]


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", ".kimi"} & set(path.relative_to(root).parts)
    }


def test_pages_hold_nothing_but_what_templates_wrote(pages: Pages) -> None:
    for path in everything(pages):
        text = pages.read(path)
        read = Reader(text)
        names = {tag for tag, _ in read.tags}
        assert names <= ALLOWED, (path, names - ALLOWED)
        assert [attrs.get("src", "")[:11] for tag, attrs in read.tags if tag == "script"] == [
            "/ui/static/"
        ]
        for tag, attrs in read.tags:
            assert not [name for name in attrs if name.startswith("on") or name == "style"], path
            for name in ("href", "action", "src"):
                assert (attrs.get(name) or "/").startswith(("/", "#")), (path, tag, attrs)
        assert "\u202e" not in text
        assert "\u200b" not in text
        assert [tag for tag, _ in read.tags].count("h1") == 1, path
        assert dict(read.tags)["html"] == {"lang": "en"}


def test_texts_are_shown_as_they_are(pages: Pages) -> None:
    said = Reader(pages.read("/ui/sessions/talk")).said
    for payload in PAYLOADS:
        assert printable(payload) in said
    assert r"\u202e" in said


def test_reading_changes_no_byte(pages: Pages) -> None:
    paths = everything(pages)
    before = tree(pages.root)
    for path in paths:
        pages.read(path)
    assert tree(pages.root) == before


def test_times_are_those_of_the_zone_of_the_memory(fresh: Pages) -> None:
    settings = fresh.root / "memory.toml"
    text = re.sub(r"(?m)^timezone = .*\n", "", settings.read_text("utf-8"))
    there = text.replace("[memory]\n", '[memory]\ntimezone = "Asia/Shanghai"\n')
    settings.write_text(there, "utf-8")
    with Pages(fresh.root, fresh.home) as pages:
        [card, *_] = [x for x in Reader(pages.read("/ui/held")).links() if "/note/" in x]
        shown = "".join(
            pages.read(path)
            for path in ("/ui/", "/ui/held", "/ui/sessions", "/ui/jobs", "/ui/health", card)
        )
    times = re.findall(r'<time datetime="([^"]+)"', shown)
    assert len(times) > 20
    assert not [one for one in times if not one.endswith("+08:00")]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_pages_speak_the_language_of_the_browser(pages: Pages, lang: str) -> None:
    text = pages.read("/ui/held", **{"accept-language": f"{lang}-XX,fr"})
    assert ("认定" in text) == (lang == "zh")
    assert f'<html lang="{lang}">' in text


def test_a_seat_keeps_the_language_it_chose(fresh: Pages) -> None:
    fresh.sit()
    there = fresh.post("/ui/language", {"lang": "zh", "back": "/held?sort=key"})
    assert there.headers["location"] == "/ui/held?sort=key"
    assert "认定" in fresh.read("/ui/held")
    away = fresh.post("/ui/language", {"lang": "xx", "back": "//evil.test/"})
    assert away.headers["location"] == "/ui/evil.test/"


def test_without_a_seat_nothing_is_shown_or_done(pages: Pages) -> None:
    for page in PAGES:
        path = f"/ui{page.path.replace('{id}', 'talk')}"
        answer = pages.send(page.method, path, headers={"sec-fetch-site": "same-origin"})
        expected = (303, "/ui/enter") if page.method == "GET" else (401, None)
        assert (answer.status_code, answer.headers.get("location")) == expected, path
        assert "MongoDB" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"x-none": "1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8378"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_decisions_from_elsewhere_are_refused(pages: Pages, headers: dict[str, str]) -> None:
    pages.read("/ui/")
    before = tree(pages.root)
    for page in PAGES:
        if page.method == "POST":
            path = f"/ui{page.path.replace('{id}', 'x')}"
            answer = pages.post(path, {"kind": "daily", "key": "greeting"}, **headers)
            assert answer.status_code == 403, path
    for path in ("/ui/enter", "/ui/leave", "/ui/language"):
        assert pages.post(path, {"code": pages.code()}, **headers).status_code == 403
    assert tree(pages.root) == before


def test_our_own_origin_is_enough_where_a_browser_says_no_more(fresh: Pages) -> None:
    fresh.sit()
    answer = fresh.post("/ui/jobs", {"kind": "daily", "dry": "1"}, origin="http://127.0.0.1:8378")
    assert answer.status_code == 200


def test_every_answer_has_its_headers(pages: Pages) -> None:
    pages.read("/ui/")
    for path in ("/ui/", "/ui/held", "/ui/enter", "/ui/nowhere", "/ui/note/none"):
        headers = pages.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "'unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin"
    sheet = next(
        a["href"] for tag, a in Reader(pages.read("/ui/")).tags if a.get("rel") == "stylesheet"
    )
    kept = pages.get(str(sheet))
    assert kept.headers["cache-control"] == "max-age=31536000, immutable"
    assert len(kept.content) < 16 * 1024
    assert pages.get("/ui/static/00000000/ui.css").status_code == 404


def test_refusals_are_pages_with_their_remedy(pages: Pages) -> None:
    pages.read("/ui/")
    gone = pages.get("/ui/note/card-none")
    assert gone.status_code == 404
    assert "card-none" in gone.text
    assert "<h1>" in gone.text
    wrong = pages.get("/ui/held?after=x")
    assert wrong.status_code == 400
    assert "first page" in wrong.text
    assert str(pages.root) not in gone.text + wrong.text
    assert pages.get("/ui/held?sort=colour").status_code == 400


def test_refusals_are_in_the_language_of_the_page_and_lead_on(pages: Pages) -> None:
    pages.read("/ui/")
    chinese = {"accept-language": "zh-CN"}
    gone = pages.get("/ui/note/card-none", **chinese).text
    assert "没有笔记 'card-none'。" in Reader(gone).said
    assert "kimi-memory" not in Reader(gone).said, "who reads pages is told of pages"
    assert {"/ui/held", "/ui/search", "/ui/receipts"} <= {*Reader(gone).links()}
    assert "没有这个页面" in pages.get("/ui/nowhere", **chinese).text
    assert "There is no such page" in pages.get("/ui/nowhere").text


def test_what_is_no_form_is_refused(pages: Pages) -> None:
    pages.read("/ui/")
    sent = pages.send(
        "POST", "/ui/jobs", json={"kind": "daily"}, headers={"sec-fetch-site": "same-origin"},
        cookies=pages.cookies,
    )  # fmt: skip
    assert sent.status_code == 415
    assert pages.post("/ui/jobs", {"kind": "x" * 300_000}).status_code == 413
    assert pages.post("/ui/jobs", {str(n): "1" for n in range(3000)}).status_code == 400


def test_the_root_leads_browsers_here_and_programs_nowhere(pages: Pages) -> None:
    browser = pages.send("GET", "/", headers={"accept": "text/html,*/*"})
    assert (browser.status_code, browser.headers["location"]) == (303, "/ui/")
    program = pages.send("GET", "/", headers={"accept": "application/json"})
    assert program.json()["error"]["code"] == "no_such_route"


def test_a_person_bound_to_a_part_sees_that_part_alone(pages: Pages) -> None:
    _, secret = pages.tokens.add(
        "phone", [Scope.PERSON], Namespace("apollo"), pages.desk.memory.clock()
    )
    whole = dict(pages.cookies)
    try:
        assert pages.sit(token=secret).status_code == 303
        held = pages.read("/ui/held")
        assert "6543" in held
        assert "SQLite" not in held
        assert pages.get("/ui/").headers["location"] == "/ui/held"
        assert pages.get("/ui/sessions/talk").status_code == 404
        assert "talk" not in pages.read("/ui/search?q=MongoDB")
        assert "SQLite" not in pages.read("/ui/told?purpose=task&q=MongoDB")
        assert "SQLite" not in pages.read("/ui/timeline")
        leads = {to for group in NAVIGATION for _, to, _ in group}
        hidden = {"/review", "/jobs", "/forget", "/health", "/usage"}
        assert hidden < leads
        for path in (*hidden, "/receipts", "/blame?path=MEMORY.md", "/audit", "/evals"):
            assert pages.get(f"/ui{path}").status_code == 404
            assert f'"/ui{path}"' not in held
        changing = [page.path for page in PAGES if page.method == "POST"]
        assert len(changing) >= 9
        for path in changing:
            form = {"key": "staging.port", "answer": "accept", "kind": "daily", "go": "1"}
            assert pages.post(f"/ui{path.replace('{id}', 'card-1')}", form).status_code == 404, path
    finally:
        pages.tokens.remove("phone")
        pages.cookies = whole


def test_what_lies_outside_of_a_part_answers_like_what_is_not_there(pages: Pages) -> None:
    memory = pages.desk.memory
    kept = memory.remember("We chose Oslo for the retreat.", project="hermes", key="retreat.city")
    memory.session("hermes-talk", project="hermes").turn("user", "Oslo is far away.")
    hidden = kept.operations[0].target
    assert pages.read(f"/ui/note/{hidden}")
    missing = f"{hidden[:-6]}{'0' * 6 if hidden[-6:] != '0' * 6 else '1' * 6}"
    names = [
        (hidden, missing),
        (hidden[:18], f"{missing[:12]}zzzzzz"),
        ("retreat.city", "retreat.tree"),
        ("hermes-talk", "hermes-tall"),
        ("session:hermes-talk#1", "session:hermes-tall#1"),
        ("hermes", "herman"),
    ]
    _, secret = pages.tokens.add("phone", [Scope.PERSON], Namespace("apollo"), memory.clock())
    whole = dict(pages.cookies)
    try:
        assert pages.sit(token=secret).status_code == 303
        for form in OF_A_NAME:
            for there, not_there in names:
                answers = [pages.get(form.format(quote(name))) for name in (there, not_there)]
                codes = [one.status_code for one in answers]
                assert codes[0] == codes[1], (form, there, codes)
                one, two = (
                    _without(answer.text, name)
                    for answer, name in zip(answers, (there, not_there), strict=True)
                )
                assert one == two, (form, there)
    finally:
        pages.tokens.remove("phone")
        pages.cookies = whole


OF_A_NAME = (
    "/ui/note/{}", "/ui/note/{}/history", "/ui/note/{}?as_of=2030-01-01", "/ui/sessions/{}",
    "/ui/sessions?q={}", "/ui/held?q={}", "/ui/held?key={}", "/ui/held?project={}",
    "/ui/held?session={}", "/ui/search?q={}", "/ui/search?q=session:{}", "/ui/search?q=key:{}",
    "/ui/timeline?key={}", "/ui/timeline?id={}", "/ui/graph?around={}", "/ui/graph?id={}",
    "/ui/told?purpose=task&q={}", "/ui/told?purpose=live&session={}", "/ui/told?project={}",
    "/ui/file?path={}", "/ui/blame?path={}", "/ui/jobs/{}", "/ui/forget?key={}", "/ui/audit?q={}",
)  # fmt: skip


def _without(text: str, name: str) -> str:
    """Return a page without what was asked for and without marks that differ each time."""
    for shown in (
        quote(name),
        quote(name, safe=":"),
        quote(name, safe=""),
        html.escape(name),
        name,
    ):
        text = text.replace(shown, "NAME")
    return re.sub(r"\d+(?:\.\d+)? ?ms|nonce[=-]\S+|\d\d:\d\d:\d\d(?:\.\d+)?", "", text)


def test_a_page_that_stands_in_for_the_search_keeps_the_question(pages: Pages) -> None:
    room, view = Room(pages.desk), View("refusal", "refusal", {"status": 403, "message": "No.",
                                                               "remedy": ""})  # fmt: skip
    address = ("/ui/search", "q=green+tea")
    said = Frame().render(view, room.place, address, Seat(OWNER, 0.0), "en")
    assert 'value="green tea"' in said and "No." in said
