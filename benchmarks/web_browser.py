"""The first look at a page in Chromium with an empty cache, for `benchmarks.web`."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Mapping
from typing import Any

LOOKS = 5
PAINTED = """() => new Promise(done => new PerformanceObserver(
    list => done(list.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))"""


def measure(host: str, cookie: str) -> tuple[Mapping[str, float], str]:
    """Return the least of a few looks, as others may run beside, or why there are none.

    ``paint_ms`` is the time on the clock to the first paint, ``paint_cpu_ms`` what the page works.

    Args:
        host: where the pages are served.
        cookie: of a seat there.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return {}, "browser: no Chromium on the path"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}, "browser: needs kimi-memory[browser]"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        # What a browser does once, when it begins to show pages at all, is not of our page.
        browser.new_page().goto(f"http://{host}/ui/enter")
        found = [_look(browser, host, cookie) for _ in range(LOOKS)]
        browser.close()
    return {name: min(one[name] for one in found) for name in found[0]}, ""


def _look(browser: Any, host: str, cookie: str) -> Mapping[str, float]:
    name, _, value = cookie.partition("=")
    context, got = browser.new_context(), list[Any]()
    context.add_cookies([{"name": name, "value": value, "domain": "127.0.0.1", "path": "/ui"}])
    tab = context.new_page()
    tab.on("response", lambda one: got.append(one))  # noqa: PLW0108  it marks what it is given
    line = context.new_cdp_session(tab)
    line.send("Performance.enable", {"timeDomain": "threadTicks"})
    tab.goto(f"http://{host}/ui/held", wait_until="load")
    # The entry of a paint comes after it, and on a busy machine after the page was loaded; to ask
    # for it again and again, as Playwright would, is forbidden by the policy of the page.
    paint = tab.evaluate(PAINTED)
    used = {one["name"]: one["value"] for one in line.send("Performance.getMetrics")["metrics"]}
    sizes = [len(gzip.compress(one.body(), 6)) for one in got if "/live" not in one.url]
    context.close()
    return {
        "paint_ms": round(float(paint)),
        "paint_cpu_ms": round(used["TaskDuration"] * 1000),
        "requests": len(sizes),
        "kb": round(sum(sizes) / 1024, 1),
    }
