"""Pictures of the pages on the demonstration: ``python -m docs.screenshots``.

Needs Chromium with its languages (Debian: chromium-l10n), pngquant, and
``pip install 'kimi-memory[browser]'``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).parent / "pages"
MOST_BYTES = 80 * 1024
"""No picture is larger: they lie in the history for ever."""
PAGES = {
    "overview": "/",
    "held": "/held?project=小灶&sort=confidence",
    "search": "/search?q=我们用什么数据库",
    "note": "/held?q=改用 SQLite&project=小灶",
    "graph": "/held?q=改用 SQLite&project=小灶",
    "timeline": "/timeline?month=2026-02&project=小灶",
    "review": "/review",
    "usage": "/usage?days=30",
}
PLACES = (("en-GB", "Europe/London"), ("zh-CN", "Asia/Shanghai"))
"""Languages, each with a zone in which people of the demonstration live."""
SCHEMES = ("light", "dark")
FIRST = {
    "note": (".row .statement a",),
    "graph": (".row .statement a", "[data-do=n]"),
}
"""What is clicked on before these pages are shown."""


def main() -> int:
    """Take each picture, in English and Chinese, light and dark."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        for locale, zone in PLACES:
            # A date field is in the language of the browser, whatever that of the page.
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox"],
                env={**os.environ, "LANGUAGE": locale.replace("-", "_")},
            )
            with _serve_demo(zone) as url:
                _take(browser, url, locale)
            browser.close()
    return 0


@contextmanager
def _serve_demo(zone: str) -> Iterator[str]:
    """Serve the pages of the demonstration, made in a zone; yields the address of their door."""
    command = [sys.executable, "-m", "kimi_memory"]
    with tempfile.TemporaryDirectory() as home:
        memory = f"{home}/demo"
        env = {"HOME": home, "PATH": os.environ["PATH"], "TZ": zone}
        subprocess.run([*command, "demo", memory], env=env, check=True, capture_output=True)
        served = [*command, "ui", "--memory", memory, "--no-open", "--port", "0"]
        with subprocess.Popen(served, env=env, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            try:
                yield server.stdout.readline().strip()
            finally:
                server.terminate()


def _take(browser: Browser, url: str, locale: str) -> None:
    size = {"width": 1100, "height": 760}
    tab = browser.new_context(locale=locale, viewport=size).new_page()
    tab.goto(url)
    tab.click("button")
    tab.locator("[data-again]").wait_for(state="detached")
    base = url.partition("/ui/")[0]
    for name, path in PAGES.items():
        tab.goto(f"{base}/ui{path}")
        for link in FIRST.get(name, ()):
            tab.click(f"{link} >> nth=0")
        if name == "graph":
            tab.select_option("select[name=hops]", "3")
            tab.click("form.filter button.main")
        for scheme in SCHEMES:
            tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            picture = FOLDER / f"{name}-{locale[:2]}-{scheme}.png"
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
