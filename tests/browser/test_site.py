"""The documentation site: both languages build without an issue and are read in Chromium.

Needs Chromium and ``pip install 'kimi-memory[browser,docs]'``; ``make test-browser`` runs it.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from fakes.browsing import follow, open_tab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1200)]
pytest.importorskip("playwright.sync_api", reason="needs kimi-memory[browser]")
pytest.importorskip("zensical", reason="needs kimi-memory[docs]")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
if not BROWSER:
    pytest.skip("needs Chromium on the path", allow_module_level=True)

ROOT = Path(__file__).parents[2]
LOOKS = {"light": ("light", 1400), "dark": ("dark", 1400), "phone": ("light", 390)}
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Silent(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, format: str, *words: Any) -> None:
        pass


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site, and what the build said."""
    folder = tmp_path_factory.mktemp("site")
    argv = [sys.executable, "-m", "docs.site", "--folder", str(folder)]
    ran = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder, ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def url(built: tuple[Path, str]) -> Iterator[str]:
    handler = functools.partial(Silent, directory=str(built[0]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_both_languages_build_without_an_issue(built: tuple[Path, str]) -> None:
    assert built[1].count("No issues found") == 2
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    for language in ("en", "zh"):
        made = {f"{path.stem}.md" for path in (built[0] / language).glob("*.html")}
        assert pages <= made


@pytest.mark.parametrize(("query", "page"), [("冲突", "correcting"), ("词干分析器", "why")])
def test_a_search_in_chinese_finds_the_page(browser: Any, url: str, query: str, page: str) -> None:
    tab = open_tab(browser, locale="zh-CN")
    tab.goto(f"{url}/zh/index.html")
    tab.click(".md-search__button")
    tab.get_by_role("combobox").fill(query)
    first = tab.locator("[role=option]").first
    first.wait_for()
    assert f"/zh/{page}.html" in first.get_attribute("href")
    tab.context.close()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("path", ["en/index", "zh/index", "zh/tutorial", "en/commands"])
def test_a_page_fits_asks_nobody_else_and_has_no_fault(
    browser: Any, url: str, look: str, path: str
) -> None:
    scheme, width = LOOKS[look]
    tab = open_tab(browser, color_scheme=scheme, viewport={"width": width, "height": 800})
    asked, faults = list[str](), list[str]()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(f"{url}/{path}.html", wait_until="networkidle")
    assert [one for one in asked if not one.startswith((url, "data:", "blob:"))] == []
    assert faults == [] and tab.evaluate(TOO_WIDE) <= 0
    assert tab.locator("body").get_attribute("data-md-color-scheme") == (
        "slate" if scheme == "dark" else "default"
    )
    tab.context.close()


def test_the_switch_leads_to_the_same_page_in_the_other_language(browser: Any, url: str) -> None:
    tab = open_tab(browser)
    tab.goto(f"{url}/index.html")
    follow(tab, "text=English", "**/en/**")
    tab.goto(f"{url}/en/recall.html")
    # The list comes by pointing at it, and moves as it does: a slow click may miss the link.
    tab.dispatch_event(".md-header a[hreflang=zh]", "click")
    tab.wait_for_url(f"{url}/zh/recall.html")
    assert tab.locator("html").get_attribute("lang") == "zh"
    assert tab.locator("h1").inner_text().startswith("提问")
    tab.context.close()
