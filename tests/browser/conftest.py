"""The demonstration behind its pages, and a real browser that looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fakes.browsing import BROWSER, opening, run_demo, sit_down
from fakes.pages import PAYLOADS
from fakes.served import Served, serving

from kimi_memory import Memory


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demonstration, served, with turns, statements and a page that are attacks."""
    base = tmp_path_factory.mktemp("browser")
    with serving(base) as start:
        there = Served(base / "demo", base / "home")
        run_demo(there)
        with Memory.open(there.root, opening(there)) as memory:
            with memory.session("attacks") as session:
                for payload in PAYLOADS:
                    session.turn("user", payload, speaker=payload[:60])
            for number, payload in enumerate(PAYLOADS):
                memory.remember(f"{payload} is it.", key=f"attack.n{number}", project=payload[:40])
        named = there.root / "notes" / "<img src=x onerror=alert(1)>.md"
        named.parent.mkdir(exist_ok=True)
        named.write_text("# <script>alert(1)</script>\n\nA page.\n", "utf-8")
        yield start(there.root, there.home)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs kimi-memory[browser]")
    if not BROWSER:
        pytest.skip("needs Chromium on the path")
    with playwright.sync_playwright() as found:
        started = found.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: Any, demo: Served) -> Iterator[Callable[..., Any]]:
    """Opens a tab of the demonstration."""
    tabs: list[Any] = []

    def open_tab(**options: Any) -> Any:
        tabs.append(sit_down(browser, demo, **options))
        return tabs[-1]

    yield open_tab
    for tab in tabs:
        tab.context.close()
