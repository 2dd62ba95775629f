"""The pages in a real browser: keys, decisions without JavaScript, attacks, access for all.

Needs Chromium and ``pip install 'kimi-memory[browser]'``; ``make test-browser`` runs it.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fakes.pages import PAYLOADS
from fakes.served import Served, argv, environment, serving

from kimi_memory import Memory, Opening
from kimi_memory.hooks.host import Host
from kimi_memory.web.seats import make_code

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api", reason="needs kimi-memory[browser]")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
if not BROWSER:
    pytest.skip("needs Chromium on the path", allow_module_level=True)

READ = (
    *("/", "/held", "/timeline", "/sessions", "/review", "/conflicts", "/jobs", "/told", "/forget"),
    *("/purge", "/health", "/search?q=MongoDB&old=1", "/sessions/xiaozao-0228", "/held?sort=key"),
)
LOOKS = {"light": ("light", 1200), "dark": ("dark", 1200), "phone": ("light", 390)}
NOTES, HREFS = ".row .statement a", "found => found.map(one => one.getAttribute('href'))"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LISTEN = """() => {
  window.broken = [];
  addEventListener('securitypolicyviolation', (one) => window.broken.push(one.blockedURI));
  window.alert = () => window.broken.push('alert');
}"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demonstration, served, with turns and statements that are attacks."""
    base = tmp_path_factory.mktemp("browser")
    with serving(base) as start:
        there = Served(base / "demo", base / "home")
        run_demo(there)
        opening = Opening(home=there.directories, host=Host(entry_points=False), background=False)
        with Memory.open(there.root, opening) as memory:
            with memory.session("attacks") as session:
                for payload in PAYLOADS:
                    session.turn("user", payload, speaker=payload[:60])
            for number, payload in enumerate(PAYLOADS):
                memory.remember(f"{payload} is it.", key=f"attack.n{number}", project=payload[:40])
        yield start(there.root, there.home)


def run_demo(there: Served) -> None:
    words = [*argv(there.root, command="demo")[:-2], str(there.root)]
    subprocess.run(words, env=environment(there.home), check=True, capture_output=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as found:
        started = found.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: Any, demo: Served) -> Iterator[Callable[..., Any]]:
    """Opens a tab in which somebody has taken a seat."""
    contexts: list[Any] = []

    def open_tab(**options: Any) -> Any:
        context = browser.new_context(locale="en-GB", **options)
        contexts.append(context)
        tab = context.new_page()
        tab.problems = []
        tab.asked = []
        tab.on("console", lambda said: said.type == "error" and tab.problems.append(said.text))
        tab.on("pageerror", lambda error: tab.problems.append(str(error)))
        tab.on("request", lambda request: tab.asked.append(request.url))

        code = make_code(demo.directories, demo.root, time.time())
        tab.goto(f"{demo.url}/ui/enter?code={code}")
        tab.click("button")
        assert tab.url == f"{demo.url}/ui/"
        return tab

    yield open_tab
    for context in contexts:
        context.close()


@pytest.mark.parametrize("look", LOOKS)
def test_pages_can_be_used_by_all_and_ask_nobody_else(
    opened: Callable[..., Any], demo: Served, look: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    scheme, width = LOOKS[look]
    tab = opened(color_scheme=scheme, viewport={"width": width, "height": 900})
    links = [f"/ui{path}" for path in READ]
    tab.goto(f"{demo.url}/ui/held")
    links += tab.eval_on_selector_all(NOTES, HREFS)[:3]
    for link in links:
        tab.goto(f"{demo.url}{link}")
        wide = tab.evaluate(TOO_WIDE)
        assert wide <= 0, (link, wide)
        found = axe.run(tab).response["violations"]
        told = [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
        assert not told, (link, told)
    assert not tab.problems
    assert all(url.startswith(demo.url) for url in tab.asked)


@pytest.mark.parametrize("policy", [True, False], ids=["as served", "without the policy"])
def test_no_attack_runs(opened: Callable[..., Any], demo: Served, policy: bool) -> None:
    tab = opened(bypass_csp=not policy)
    tab.add_init_script(f"({LISTEN})()")
    tab.goto(f"{demo.url}/ui/held")
    paths = [*(f"/ui{one}" for one in READ), "/ui/sessions/attacks", "/ui/held?q=lt"]
    for path in [*paths, *tab.eval_on_selector_all(NOTES, HREFS)[:20]]:
        tab.goto(f"{demo.url}{path}")
        assert tab.evaluate("window.broken") == [], path
    for payload in PAYLOADS:
        tab.goto(f"{demo.url}/ui/search")
        tab.fill("#ask", payload.replace("\n", " "))
        tab.press("#ask", "Enter")
        tab.wait_for_load_state()
        assert tab.evaluate("window.broken") == [], payload
        assert tab.title().startswith("Search")
    assert all(url.startswith(demo.url) for url in tab.asked)


def test_keys_lead_decide_and_take_back(opened: Callable[..., Any], demo: Served) -> None:
    tab = opened()
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
    tab.click("button[value=accept]")
    assert "said=accepted" in tab.url
    tab.click(".flash button")
    assert "said=undone" in tab.url
    tab.goto(f"{demo.url}/ui/held?q=FastAPI")
    tab.check(".row input >> nth=0")
    tab.click("text=Forget the chosen")
    assert "FastAPI" in tab.content()
    tab.click("button.danger")
    assert "said=forgotten" in tab.url
    tab.click(".flash button")
    assert "said=undone" in tab.url
