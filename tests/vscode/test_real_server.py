"""The extension in a real VS Code server and Chromium: ``make test-vscode``.

`KIMI_VSCODE` names the folder ``lib/vscode`` of an installed code-server; ``install.sh`` here
installs one. Without it, the .vsix or Chromium, everything here is skipped and says so.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="pip install kimi-memory[browser]")

ROOT = Path(__file__).parents[2]
VSIX = ROOT / "integrations/vscode/kimi-memory.vsix"
SERVER = Path(os.environ.get("KIMI_VSCODE", "/nowhere"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Each test says so itself: pytest takes a module that is left out whole for no tests, an error.
pytestmark = [
    pytest.mark.vscode,
    pytest.mark.skipif(
        not (SERVER / "out/server-main.js").is_file(), reason="KIMI_VSCODE names no VS Code server"
    ),
    pytest.mark.skipif(
        CHROMIUM is None or not VSIX.is_file(),
        reason="needs Chromium, and the .vsix of 'make vscode'",
    ),
]
DEADLINE_MS = 90_000
DIMMED = """() => [...document.querySelectorAll(".view-line span span")].some(
    node => node.textContent.includes("^card-") && getComputedStyle(node).opacity < 0.5)"""
"""Whether a mark at the end of a line is dimmed."""


@pytest.fixture(scope="module")
def folder(grown_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with its history, under a Chinese name."""
    root = tmp_path_factory.mktemp("vscode") / "记忆"
    shutil.copytree(grown_sample, root)
    return root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Where the editor answers, with our extension installed and the folder trusted."""
    home = folder / "editor"
    extensions = home / "extensions"
    extensions.mkdir(parents=True)
    with zipfile.ZipFile(VSIX) as archive:
        archive.extractall(home / "vsix")
    shutil.move(home / "vsix/extension", extensions / "kimi-memory.kimi-memory-0.1.0")
    settings = home / "data/Machine/settings.json"
    settings.parent.mkdir(parents=True)
    program = str(Path(sys.executable).with_name("kimi-memory"))
    # The welcome page takes the focus at any moment, and an open search closes with it.
    own = {"kimi.command": program, "workbench.startupEditor": "none"}
    settings.write_text(json.dumps(own), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [
        "node",
        str(SERVER / "out/server-main.js"),
        *("--host", "127.0.0.1", "--port", str(port), "--without-connection-token"),
        *("--accept-server-license-terms", "--telemetry-level", "off"),
        *("--extensions-dir", str(extensions), "--server-data-dir", str(home)),
        *("--default-folder", str(folder / "memory")),
    ]
    env = os.environ | {
        "XDG_CONFIG_HOME": str(folder / "home"),
        "XDG_STATE_HOME": str(folder / "home"),
    }
    log = (home / "log.txt").open("wb")
    server = subprocess.Popen(argv, env=env, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/?folder={folder / 'memory'}"
    finally:
        server.terminate()
        server.wait(timeout=20)
        log.close()


def servers_of(folder: Path) -> list[str]:
    """Return the ids of our processes that work in the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            here = (process / "cwd").readlink() == folder / "memory"
            if here and b"lsp" in (process / "cmdline").read_bytes():
                found.append(process.name)
    return found


@pytest.fixture(scope="module")
def page(address: str, folder: Path) -> Iterator[playwright.Page]:
    """The workbench, when our extension has counted what waits."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(DEADLINE_MS)
        page.goto(address)
        # Before a person trusts the folder, nothing of it is read and nothing started.
        page.wait_for_selector("text=Do you trust the authors of the files in this folder?")
        assert not page.locator(".statusbar-item:has-text('●')").count()
        assert not servers_of(folder)
        page.click("text=Yes, I trust the authors")
        page.wait_for_selector(".statusbar-item:has-text('●')")
        yield page
        if pictures := os.environ.get("KIMI_PICTURES"):
            page.screenshot(path=f"{pictures}/last.png")
        browser.close()


def command(page: playwright.Page, words: str) -> None:
    """Run a command by the palette, as a person does."""
    page.keyboard.press("F1")
    page.wait_for_selector(".quick-input-widget input")
    page.keyboard.type(words)
    page.wait_for_selector(f".quick-input-list .monaco-list-row:has-text('{words}')")
    page.keyboard.press("Enter")


def open_file(page: playwright.Page, name: str) -> None:
    page.keyboard.press("Control+p")
    page.wait_for_selector(".quick-input-widget input")
    page.keyboard.type(name)
    page.wait_for_selector(f".quick-input-list .monaco-list-row:has-text('{name}')")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".tab.active:has-text('{name}')")


def test_the_status_bar_counts_what_waits(page: playwright.Page, folder: Path) -> None:
    shown = page.inner_text(".statusbar-item:has-text('●')")
    program = str(Path(sys.executable).with_name("kimi-memory"))
    argv = [program, "review", "list", "--json", "--memory", str(folder / "memory")]
    env = os.environ | {"XDG_CONFIG_HOME": str(folder / "home")}
    env |= {"XDG_STATE_HOME": str(folder / "home")}
    listed = json.loads(subprocess.run(argv, env=env, check=True, capture_output=True).stdout)
    assert int(shown.split("●")[1].strip()) == len(listed) > 0
    assert servers_of(folder)


def test_search_finds_and_opens_a_chinese_file(page: playwright.Page) -> None:
    command(page, "Kimi: Search the memory")
    page.wait_for_selector(".quick-input-title:has-text('Search the memory')")
    page.keyboard.insert_text("小灶用什么数据库")
    row = page.wait_for_selector(".quick-input-list .monaco-list-row:has-text('SQLite')")
    assert row is not None and "改用 SQLite" in row.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector(".tab.active")


def test_a_mark_shows_the_card_with_its_evidence_and_is_dimmed(page: playwright.Page) -> None:
    open_file(page, "MEMORY.md")
    mark = page.locator(".view-line span span", has_text="^card-01kjad706rht76").first
    mark.wait_for()
    page.wait_for_function(DIMMED)
    mark.hover()
    hover = page.wait_for_selector(".monaco-hover:has-text('user.name')")
    assert hover is not None
    words = hover.inner_text()
    assert "引文原样在" in words and "林夏" in words and "session:xiaozao-0225#" in words


def test_a_dry_run_shows_its_diff_and_writes_nothing(page: playwright.Page, folder: Path) -> None:
    before = {path: path.read_bytes() for path in (folder / "memory").rglob("*.md")}
    command(page, "View: Show Kimi")
    page.wait_for_selector(".pane-header:has-text('Jobs')")
    command(page, "Kimi: Focus on Jobs View")
    job = page.locator(".monaco-list-row:has-text('The week')").first
    job.click()
    page.wait_for_selector("text=/It would change nothing|What weekly would do/")
    assert before == {path: path.read_bytes() for path in (folder / "memory").rglob("*.md")}


def test_a_proposal_is_accepted_and_taken_back(page: playwright.Page, folder: Path) -> None:
    identity = folder / "memory/long-term/IDENTITY.md"
    command(page, "Kimi: Show what waits for you")
    row = page.locator(".monaco-list-row:has-text('never deploy on Friday')").first
    row.wait_for()
    row.click()
    page.wait_for_selector(".tab.active:has-text('What accepting would change')")
    row.hover()
    row.locator("a.action-label[aria-label='Accept']").click()
    page.wait_for_selector(".notification-toast:has-text('Accepted.')")
    assert "never deploy on Friday" in identity.read_text("utf-8")
    page.locator(".notification-toast a:has-text('Undo')").first.click()
    page.wait_for_selector(".notification-toast:has-text('Undone')")
    assert "never deploy on Friday" not in identity.read_text("utf-8")
