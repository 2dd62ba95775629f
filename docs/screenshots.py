"""Pictures of the pages on the demonstration: ``python -m docs.screenshots``.

Needs Chromium and ``pip install 'kimi-memory[browser]'``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).parent / "pages"
PAGES = {
    "overview": "/",
    "search": "/search?q=我们用什么数据库",
    "note": "/held?q=SQLite&project=小灶",
    "review": "/review",
}
LOOKS = (("en-GB", "light"), ("zh-CN", "dark"))
FIRST = {"note": ".row .statement a"}
"""On these pages the first link leads to what is shown."""


def main() -> int:
    """Take each picture, in English and light, in Chinese and dark."""
    FOLDER.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "kimi_memory"]
    with tempfile.TemporaryDirectory() as home:
        memory = f"{home}/demo"
        env = {"HOME": home, "PATH": os.environ["PATH"]}
        subprocess.run([*command, "demo", memory], env=env, check=True, capture_output=True)
        served = [*command, "ui", "--memory", memory, "--no-open", "--port", "0"]
        for locale, scheme in LOOKS:
            with subprocess.Popen(served, env=env, stdout=subprocess.PIPE, text=True) as server:
                assert server.stdout
                url = server.stdout.readline().strip()
                with sync_playwright() as playwright:
                    found = shutil.which("chromium")
                    browser = playwright.chromium.launch(
                        executable_path=found, args=["--no-sandbox"]
                    )
                    _take(browser, url, locale, scheme)
                    browser.close()
                server.terminate()
    return 0


def _take(browser: Browser, url: str, locale: str, scheme: str) -> None:
    size = {"width": 1100, "height": 760}
    tab = browser.new_context(locale=locale, viewport=size).new_page()
    tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    tab.goto(url)
    tab.click("button")
    base = url.partition("/ui/")[0]
    for name, path in PAGES.items():
        tab.goto(f"{base}/ui{path}")
        if name in FIRST:
            tab.click(f"{FIRST[name]} >> nth=0")
        tab.screenshot(path=FOLDER / f"{name}-{locale[:2]}.png")


if __name__ == "__main__":
    sys.exit(main())
