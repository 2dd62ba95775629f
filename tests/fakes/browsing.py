"""A person at a real browser, in front of the pages of a real server."""

from __future__ import annotations

import shutil
import subprocess
import time
from typing import Any

from fakes.served import Served, argv, environment

from kimi_memory import Opening
from kimi_memory.hooks.host import Host
from kimi_memory.web.seats import make_code

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
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


def sit_down(browser: Any, there: Served, **options: Any) -> Any:
    """Return a tab in which somebody has taken a seat; it notes errors and requests."""
    tab = browser.new_context(**{"locale": "en-GB", **options}).new_page()
    tab.problems, tab.asked = [], []
    tab.on("console", lambda said: said.type == "error" and tab.problems.append(said.text))
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("request", lambda request: tab.asked.append(request.url))
    code = make_code(there.directories, there.root, time.time())
    tab.goto(f"{there.url}/ui/enter?code={code}")
    tab.click("button")
    tab.wait_for_load_state()
    assert tab.url == f"{there.url}/ui/"
    # On a busy machine the first page may say that the memory is being opened.
    tab.locator("[data-again]").wait_for(state="detached", timeout=120_000)
    return tab
