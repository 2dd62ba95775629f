"""The pages in a real browser: keys, decisions without JavaScript, attacks, access for all.

Needs Chromium and ``pip install 'kimi-memory[browser]'``; ``make test-browser`` runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fakes.browsing import LISTEN, follow, stop_clock
from fakes.pages import PAYLOADS
from fakes.served import Served

# On a busy machine a look at a page with all its rules takes ten seconds, and there are forty.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(1200)]

READ = (
    *("/", "/held", "/timeline", "/sessions", "/review", "/conflicts", "/jobs", "/told", "/forget"),
    *("/purge", "/health", "/search?q=MongoDB&old=1", "/sessions/xiaozao-0228", "/held?sort=key"),
    *("/graph", "/usage?days=365", "/receipts", "/audit?go=1", "/evals", "/blame?path=MEMORY.md"),
    *("/review/all", "/file?path=MEMORY.md", "/sessions/xiaozao-0228?led=1", "/told?purpose=task"),
    "/forget?query=opinionated",
)
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
    # What a window of 1280 shows at 200 %.
    "zoomed": {
        "color_scheme": "dark", "viewport": {"width": 640, "height": 450},
        "device_scale_factor": 2,
    },
}  # fmt: skip
DOOR, NOWHERE = "/ui/enter", "/ui/no-such-page"
PREVIEW, CORRECTION = "what would be destroyed", "the diff of a correction"
NOTES, HREFS = ".row .statement a", "found => found.map(one => one.getAttribute('href'))"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def around(notes: list[str]) -> list[str]:
    """Return the pages of notes, with their histories and what surrounds them."""
    graphs = [f"/ui/graph?hops=3&id={note.rpartition('/')[2]}" for note in notes]
    return [*notes, *(f"{note}/history" for note in notes), *graphs]


@pytest.mark.parametrize("look", LOOKS)
def test_pages_can_be_used_by_all_and_ask_nobody_else(
    opened: Callable[..., Any], demo: Served, look: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab = opened(**LOOKS[look])
    links = [f"/ui{path}" for path in READ]
    tab.goto(f"{demo.url}/ui/held")
    links += around(tab.eval_on_selector_all(NOTES, HREFS)[:2])
    tab.goto(f"{demo.url}/ui/jobs")
    links += tab.eval_on_selector_all("td a[href*='/jobs/']", HREFS)[:1]
    for link in [*links, PREVIEW, CORRECTION, NOWHERE, DOOR]:
        visit(tab, demo.url, link, links[len(READ)])
        wide = tab.evaluate(TOO_WIDE)
        assert wide <= 0, (link, wide)
        found = axe.run(tab).response["violations"]
        told = [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
        assert not told, (link, told)
    # Of the page that is not there the browser tells, too.
    assert not [one for one in tab.problems if "404" not in one]
    assert all(url.startswith(demo.url) for url in tab.asked)


def visit(tab: Any, url: str, link: str, note: str) -> None:
    """Open a page; some are behind a form."""
    if link == DOOR:
        tab.context.clear_cookies()
    if link == PREVIEW:
        tab.goto(f"{url}/ui/purge")
        tab.fill("textarea[name=text]", "Biscuit")
        tab.click("form.decide button >> nth=0")
        tab.wait_for_selector("input[name=word]")
    elif link == CORRECTION:
        tab.goto(f"{url}{note}")
        tab.click("summary[data-do=e]")
        tab.fill("textarea[name=value]", "It is otherwise.")
        tab.click("details.correct button.main")
        tab.wait_for_selector(".diff")
    else:
        tab.goto(f"{url}{link}")


def test_on_a_phone_the_page_begins_below_its_navigation(
    opened: Callable[..., Any], demo: Served
) -> None:
    tab = opened(viewport={"width": 390, "height": 844})
    for page in ("conflicts", "evals", "sessions", "usage"):
        tab.goto(f"{demo.url}/ui/{page}")
        low = tab.evaluate("document.querySelector('h1').getBoundingClientRect().y")
        assert low < 240, (page, low)
        place = tab.locator("nav [aria-current]").bounding_box()
        assert 0 <= place["x"] <= 390 - place["width"], page


@pytest.mark.parametrize("policy", [True, False], ids=["as served", "without the policy"])
def test_no_attack_runs(opened: Callable[..., Any], demo: Served, policy: bool) -> None:
    tab = opened(bypass_csp=not policy)
    tab.add_init_script(f"({LISTEN})()")
    tab.goto(f"{demo.url}/ui/held")
    paths = [*(f"/ui{one}" for one in READ), "/ui/sessions/attacks", "/ui/held?q=lt"]
    paths += ["/ui/file?path=notes/<img src=x onerror=alert(1)>.md", "/ui/held?q=quot"]
    for path in [*paths, *around(tab.eval_on_selector_all(NOTES, HREFS)[:12])]:
        tab.goto(f"{demo.url}{path}")
        assert tab.evaluate("window.broken") == [], path
    for payload in PAYLOADS:
        tab.goto(f"{demo.url}/ui/search")
        tab.fill("#ask", payload.replace("\n", " "))
        with tab.expect_navigation():
            tab.press("#ask", "Enter")
        assert tab.evaluate("window.broken") == [], payload
        assert tab.title().startswith("Search")
    assert all(url.startswith(demo.url) for url in tab.asked)


def test_a_page_that_says_it_is_opening_leads_on_by_itself(
    opened: Callable[..., Any], demo: Served
) -> None:
    tab, address, served = opened(), f"{demo.url}/ui/held", list[str]()

    def answer(route: Any) -> None:
        found = route.fetch()
        text = found.text()
        # The first two times as on a server that has not looked at the files yet.
        served.append("opening" if len(served) < 2 else "held")
        wait = '<p role="status" data-again="37"></p><progress max="100"></progress>'
        text = text.replace("<h1", f"{wait}<h1", 1) if served[-1] == "opening" else text
        route.fulfill(response=found, body=text)

    tab.route(address, answer)
    tab.goto(address)
    assert tab.locator("[data-again]").count() == 1
    tab.locator("[data-again]").wait_for(state="detached")
    assert served == ["opening", "opening", "held", "held"]
    assert not tab.problems


def test_keys_lead_decide_and_take_back(opened: Callable[..., Any], demo: Served) -> None:
    tab = opened()
    stop_clock(tab)
    tab.keyboard.press("g")
    tab.keyboard.press("r")
    tab.wait_for_url("**/ui/review")
    before = tab.inner_text("h1 small")
    assert before.startswith("1 of ")
    tab.keyboard.press("x")
    tab.wait_for_url("**said=rejected**")
    assert tab.inner_text("h1 small") != before
    tab.keyboard.press("z")
    tab.wait_for_url("**said=undone**")
    assert tab.inner_text("h1 small") == before
    assert not tab.problems


def test_keys_are_not_taken_from_who_writes(opened: Callable[..., Any], demo: Served) -> None:
    tab = opened()
    tab.goto(f"{demo.url}/ui/review")
    tab.focus("textarea")
    tab.keyboard.type("axgz")
    assert tab.url.endswith("/ui/review")
    tab.keyboard.press("Escape")
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Alt+x")
    assert tab.url.endswith("/ui/review")
    session = tab.context.new_cdp_session(tab)
    tab.focus("textarea")
    session.send("Input.imeSetComposition", {"text": "ax", "selectionStart": 2, "selectionEnd": 2})
    assert tab.url.endswith("/ui/review")
    dialogs: list[str] = []
    tab.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.accept()))
    tab.goto(f"{demo.url}/ui/held")
    assert dialogs == ["beforeunload"]


def test_rows_are_walked_and_opened(opened: Callable[..., Any], demo: Served) -> None:
    tab = opened()
    tab.goto(f"{demo.url}/ui/held")
    for key in ("j", "j", "k", "j", "Enter"):
        tab.keyboard.press(key)
    tab.wait_for_url("**/ui/note/**")
    tab.go_back()
    assert tab.url.endswith("/ui/held")
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "ask"


def test_without_javascript_everything_is_decided(opened: Callable[..., Any], demo: Served) -> None:
    tab = opened(java_script_enabled=False)
    tab.goto(f"{demo.url}/ui/review")
    follow(tab, "button[value=accept]", "**said=accepted**")
    follow(tab, ".flash button", "**said=undone**")
    tab.goto(f"{demo.url}/ui/held?q=FastAPI")
    tab.check(".row input >> nth=0")
    follow(tab, "text=Forget the chosen", "**/ui/forget?**")
    assert "FastAPI" in tab.content()
    follow(tab, "button.danger", "**said=forgotten**")
    follow(tab, ".flash button", "**said=undone**")
