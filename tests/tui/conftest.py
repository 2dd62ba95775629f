"""A memory with something of everything, and its panel without a terminal."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="needs the library of kimi-memory[tui]")

from textual.pilot import Pilot

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.hooks.host import Host
from kimi_memory.tui.panel import Panel
from tests.conftest import Clock

SCREENS = Path(__file__).parent / "__snapshots__"
START = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
_RANDOM = re.compile(r"(?<=-)[0-9a-z]{8,26}\b|\b(?=[a-z]*\d)[0-9a-z]{10,26}\b")
"""Ends of ids, and hashes."""
_HEAD = 5
Visit = Callable[[Panel, Pilot[None]], Awaitable[None]]


@pytest.fixture(scope="package")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory that has something of everything; it is copied, never opened."""
    base = tmp_path_factory.mktemp("panel")
    clock = Clock(START)
    with Memory.create(base / "kitchen", name="小灶", opening=opening(base, clock)) as made:
        fill(made, clock)
    return base


@pytest.fixture
def memory(filled: Path, tmp_path: Path) -> Iterator[Memory]:
    """A memory with a replaced decision, a proposal, a contradiction and an open session."""
    shutil.copytree(filled, tmp_path / "panel")
    clock = Clock(START + timedelta(hours=3))
    with Memory.open(tmp_path / "panel/kitchen", opening(tmp_path / "panel", clock)) as made:
        yield made


def opening(base: Path, clock: Clock) -> Opening:
    home = Home(base / "config", base / "state")
    actor, host = Actor("tui", Origin.HUMAN), Host(entry_points=False)
    return Opening(home=home, clock=clock, actor=actor, host=host, background=False)


def fill(memory: Memory, clock: Clock) -> None:
    for name, said in (
        ("talk", "我们决定数据库用 MongoDB，因为大家都会。"),
        ("talk-2", "We always use four spaces, never tabs."),
        ("talk-3", "数据库不用 MongoDB 了，改用 SQLite。"),
    ):
        clock.move(minutes=5)
        with memory.session(name, project="小灶", user="林夏") as session:
            session.turn("user", said, speaker="林夏")
        memory.end(name)
    for said, key in (
        ("部署端口是 8080。", "deploy.port"),
        ("部署端口是 8081。", "deploy.port"),
        ("[red]not markup[/red] and no colour", "note.markup"),
    ):
        clock.move(minutes=5)
        memory.remember(said, key=key)
    clock.move(minutes=5)
    page = memory.root / "MEMORY.md"
    page.write_text(page.read_text("utf-8") + "- db.pool：二十个连接\n", "utf-8")
    memory.take_edits()
    memory.session("open", project="小灶", user="林夏").turn("user", "今天吃什么？", speaker="林夏")


@pytest.fixture
def visit(memory: Memory) -> Callable[..., None]:
    """Open the panel, press keys, look."""

    def run(
        look: Visit, *, size: tuple[int, int] = (100, 30), lang: str = "en",
        edit: Callable[[str], str] = lambda text: text,
    ) -> None:  # fmt: skip
        async def go() -> None:
            panel = Panel(memory, lang, edit)
            async with panel.run_test(size=size) as pilot:
                await until(pilot, lambda: len(panel.rows_of("held")) > 0)
                await look(panel, pilot)

        asyncio.run(go())

    return run


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait until something holds on the screen."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, screen_of(pilot.app)
        await pilot.pause(0.02)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def screen_of(app: object) -> str:
    """Return what stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()  # type: ignore[attr-defined]  # no public way
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


async def check_screen(pilot: Pilot[None], name: str) -> None:
    """Compare the screen with the one that was kept; KIMI_SNAPSHOTS=write keeps it anew.

    The screen may take some more refreshes until it looks so.
    """
    kept = SCREENS / f"{name}.txt"
    if os.environ.get("KIMI_SNAPSHOTS") == "write":
        kept.write_text(_known_screen(pilot, name), "utf-8")
    approved, deadline = kept.read_text("utf-8"), time.monotonic() + 60
    while _known_screen(pilot, name) != approved and time.monotonic() < deadline:
        await pilot.pause(0.05)
    assert _known_screen(pilot, name) == approved


def _known_screen(pilot: Pilot[None], name: str) -> str:
    lines = _RANDOM.sub(lambda found: "x" * len(found[0]), screen_of(pilot.app)).splitlines()
    if name.startswith(("search", "review", "jobs")):
        # What stands there below is the text of notes, which is none of the panel's.
        lines = [*lines[:_HEAD], *(line.partition("│")[0].rstrip() for line in lines[_HEAD:])]
    return "".join(f"{line}\n" for line in lines)
