"""Pictures of the pages on the demonstration: ``python -m docs.screenshots``.

Needs Chromium, pngquant, and ``pip install 'kimi-memory[browser]'``.
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
MOST_BYTES = 80 * 1024
"""No picture is larger: they lie in the history for ever."""
PAGES = {
    "overview": "/",
    "held": "/held?project=小灶&sort=confidence",
    "search": "/search?q=我们用什么数据库",
    "note": "/held?q=SQLite&project=小灶",
    "graph": "/held?q=SQLite&project=小灶",
    "timeline": "/timeline?month=2026-02&project=小灶",
    "review": "/review",
    "usage": "/usage?days=30",
}
LOOKS = (("en-GB", "light"), ("zh-CN", "dark"))
FIRST = {
    "note": (".row .statement a",),
    "graph": (".row .statement a", "[data-do=n]"),
}
"""What is clicked on before these pages are shown."""


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
                try:
                    with sync_playwright() as playwright:
                        found = shutil.which("chromium")
                        browser = playwright.chromium.launch(
                            executable_path=found, args=["--no-sandbox"]
                        )
                        _take(browser, url, locale, scheme)
                        browser.close()
                finally:
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
        for link in FIRST.get(name, ()):
            tab.click(f"{link} >> nth=0")
        if name == "graph":
            tab.select_option("select[name=hops]", "3")
            tab.click("form.filter button.main")
        picture = FOLDER / f"{name}-{locale[:2]}.png"
        tab.screenshot(path=picture)
        _shrink(picture)


def _shrink(picture: Path) -> None:
    """Give a picture fewer colours, which nobody sees on a page of text."""
    shrink = ["pngquant", "--force", "--skip-if-larger", "--output", str(picture), "48"]
    subprocess.run([*shrink, str(picture)], check=False)
    if picture.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{picture} is larger than {MOST_BYTES} bytes. Show less on it.")


if __name__ == "__main__":
    sys.exit(main())
