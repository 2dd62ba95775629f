"""A person at a real browser, in front of the pages of a real server."""

from __future__ import annotations

import shutil
import subprocess
import time
from datetime import UTC, datetime
from typing import Any

from fakes.served import Served, argv, environment

from kimi_memory import Opening
from kimi_memory.hooks.host import Host
from kimi_memory.web.seats import make_code

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
PATIENCE_MS = 240_000
"""What a test waits for comes; how soon, says nothing about the pages."""
LISTEN = """() => {
  window.broken = [];
  addEventListener('securitypolicyviolation', (one) => window.broken.push(one.blockedURI));
  window.alert = () => window.broken.push('alert');
}"""


def opening(there: Served) -> Opening:
    """Return how a test opens the memory of a server."""
    return Opening(home=there.directories, host=Host(entry_points=False), background=False)


def run_demo(there: Served) -> None:
    words = [*argv(there.root, command="demo")[:-2], str(there.root)]
    subprocess.run(words, env=environment(there.home), check=True, capture_output=True)


def open_tab(browser: Any, **options: Any) -> Any:
    """Return a tab of a window of its own, which waits as long as a busy machine needs."""
    window = browser.new_context(**{"locale": "en-GB", **options})
    window.set_default_timeout(PATIENCE_MS)
    return window.new_page()


def follow(tab: Any, what: str, to: str) -> None:
    """Click on something, and wait for the page that it leads to."""
    tab.click(what)
    tab.wait_for_url(to)


def stop_clock(tab: Any) -> None:
    """Let no time pass between two keys, however slowly a busy machine sends them."""
    tab.clock.set_fixed_time(datetime.now(UTC))


def sit_down(browser: Any, there: Served, **options: Any) -> Any:
    """Return a tab in which somebody has taken a seat; it notes errors and requests."""
    tab = open_tab(browser, **options)
    tab.problems, tab.asked = [], []
    tab.on("console", lambda said: said.type == "error" and tab.problems.append(said.text))
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("request", lambda request: tab.asked.append(request.url))
    # On a busy machine a minute may pass before the button is there.
    code = make_code(there.directories, there.root, time.time() + PATIENCE_MS / 1000)
    tab.goto(f"{there.url}/ui/enter?code={code}")
    follow(tab, "button", f"{there.url}/ui/")
    # The first page may say that the memory is being opened.
    tab.locator("[data-again]").wait_for(state="detached")
    return tab
