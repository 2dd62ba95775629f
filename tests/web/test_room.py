"""Rooms: several memories at one address, pages of plugins, a page that says it is opening."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from fakes.pages import HOST, Pages, Reader

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.api.options import Home
from kimi_memory.domain.plugin_page import PluginPage
from kimi_memory.errors import PluginError, UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.index import index
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.operations.open_questions import asking
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.workers import Desk
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.trust import vetting
from kimi_memory.store.wal import folder_scan, reconcile
from kimi_memory.web import room as rooms
from kimi_memory.web.page_table import PAGES
from kimi_memory.web.room import Room, make_rooms
from tests.opened_files import opened_files

CARD = """---
id: card-{number:026d}
kind: card
type: fact
key: port.n{number}
status: active
trust: human
created: 2026-03-01T09:00:00Z
updated: 2026-03-01T09:00:00Z
---

# Port {number}

The port of service {number} is {number}.
"""


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Pages]:
    """Pages of two memories, the second of which has a Chinese name."""
    home = Home(tmp_path / "config", tmp_path / "state")
    opening = Opening(home=home, host=Host(entry_points=False), background=False)
    for name, text in (("desk", "The port is 6543."), ("家里", "豆包是我家的猫。")):
        with Memory.create(tmp_path / name, name=name, opening=opening) as memory:
            memory.remember(text, key="note.first")
    with Pages(tmp_path / "desk", home, beside=(tmp_path / "家里",)) as made:
        yield made


def test_each_memory_has_its_own_address(two: Pages) -> None:
    two.sit()
    assert two.get("/ui/").headers["location"] == "/ui/memories"
    listed = Reader(two.read("/ui/memories"))
    assert {"/ui/desk/", "/ui/家里/"} <= set(listed.links())
    work, own = two.read("/ui/desk/held"), two.read("/ui/家里/held")
    assert "6543" in work and "豆包" not in work
    assert "豆包" in own and "6543" not in own
    assert all(
        link.startswith(("/ui/desk/", "/ui/memories", "#", "/ui/static")) or "/language" in link
        for link in Reader(work).links()
    )
    assert two.get("/ui/held").status_code == 404


def test_the_list_says_how_the_jobs_of_each_memory_do(two: Pages) -> None:
    for desk, fails in ((two.desk, False), (two.others[0], True)):
        memory = desk.memory
        memory.consolidate("daily")
        if fails:
            breaker = Breaker(memory.store, memory.settings.gates)
            breaker.failed("weekly", UsageError("No room is left."), memory.clock())
    session = two.desk.memory.session("talk")
    session.turn("user", "We use SQLite.")
    two.desk.memory.mark_ended("talk")
    two.sit()
    said = " ".join(Reader(two.read("/ui/memories")).said.split())
    work, own = re.split(r" /\S+/家里 ", said)
    assert re.search(r"1 sessions? waits? to be distilled", work) and "Daily ✓" in work
    assert "✗" not in work and "Weekly ✗ failed 1 times in a row: No room is left." in own


def test_what_is_done_stays_in_its_memory(two: Pages) -> None:
    two.sit()
    done = two.post("/ui/家里/forget", {"key": "note.first"})
    assert unquote(done.headers["location"]).startswith("/ui/家里/held?said=forgotten")
    assert "豆包" not in Reader(two.read("/ui/家里/held")).said
    assert "6543" in two.read("/ui/desk/held")
    there = two.post("/ui/language", {"lang": "zh", "back": "/desk/held"})
    assert there.headers["location"] == "/ui/desk/held"


def test_a_token_of_one_memory_opens_that_one_alone(two: Pages) -> None:
    _, secret = two.tokens.add("phone", [Scope.PERSON], Namespace(), two.desk.memory.clock())
    two.sit(token=secret)
    assert "6543" in two.read("/ui/desk/held")
    away = two.get("/ui/家里/held")
    assert (away.status_code, away.headers["location"]) == (303, "/ui/enter")
    assert two.post("/ui/家里/forget", {"key": "note.first"}).status_code == 401
    assert two.get("/ui/memories").headers["location"] == "/ui/desk/"


@pytest.mark.parametrize("mine", ["desk", "家里"])
def test_no_page_of_another_memory_opens_or_gives_it_away(two: Pages, mine: str) -> None:
    desks = {"desk": two.desk, "家里": two.others[0]}
    [(other, theirs)] = [(name, desk) for name, desk in desks.items() if name != mine]
    words = {"desk": "6543", "家里": "豆包"}[other]
    id = next(entry.id for entry in Shelf(theirs.memory.store).entries().values() if entry.key)
    tokens = desks[mine].tokens()
    _, secret = tokens.add("phone", [Scope.PERSON], Namespace(), two.desk.memory.clock())
    assert two.sit(token=secret).status_code == 303
    before = {path: theirs.memory.store.read(path) for path in theirs.memory.store.files()}
    for page in PAGES:
        path = f"/ui/{other}{page.path}".replace("{id}", id)
        if page.method == "GET":
            answer = two.get(path)
            assert (answer.status_code, answer.headers["location"]) == (303, "/ui/enter"), path
        else:
            form = {"id": id, "key": "note.first", "value": "x", "answer": "accept", "sure": "yes"}
            answer = two.post(path, form)
            assert answer.status_code == 401, path
        assert words not in answer.text, path
    # What is refused is a page, too: of no memory that they may not see.
    for path in (f"/ui/{other}/nothing", f"/ui/{other}/note/x/y/z", f"/ui/{other}/live"):
        answer = two.get(path)
        assert answer.status_code in (303, 401, 404), path
        assert words not in answer.text, path
        links = Reader(answer.text).links()
        # The address that was asked for is known to who asked.
        inside = [link for link in links if unquote(link).startswith(f"/ui/{other}/")]
        assert {unquote(link) for link in inside} <= {path, f"{path}#main"}, path
        if answer.status_code == 404:
            unknown = two.get(path.replace(f"/ui/{other}/", "/ui/elsewhere/"))
            plain = unquote(answer.text).replace(f"/{other}/", "/elsewhere/")
            assert plain == unquote(unknown.text), path
    # By its id nothing of theirs can be told from what is nowhere.
    missing = id[:-6] + ("0" * 6 if id[-6:] != "0" * 6 else "1" * 6)
    for form in ("/note/{}", "/note/{}/history", "/sessions/{}", "/jobs/{}", "/timeline?id={}"):
        there, gone = (two.get(f"/ui/{mine}{form.format(one)}") for one in (id, missing))
        assert there.status_code == gone.status_code, form
        assert there.text.replace(id, "") == gone.text.replace(missing, ""), form
    after = {path: theirs.memory.store.read(path) for path in theirs.memory.store.files()}
    assert after == before
    tokens.remove("phone")


@pytest.mark.parametrize(
    ("name", "secret"), [("desk", "of another server"), ("家里", ""), ("desk", "\x00\udcff")]
)
def test_a_seat_of_another_server_is_none(two: Pages, name: str, secret: str) -> None:
    answer = two.get(f"/ui/{name}/held", seat=secret.encode("ascii", "replace").decode())
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/enter")


class Adds:
    """A plugin that adds pages."""

    def __init__(self, *pages: PluginPage) -> None:
        self._pages = [*pages]

    @hookimpl
    def register_pages(self) -> list[PluginPage]:
        return self._pages


def make_page(name: str = "cats", template: str = "<p>{{ t.own }} {{ cat }}</p>") -> PluginPage:
    return PluginPage(
        name=name, titles=("Cats", "猫"), template=template, labels={"own": ("Ours", "我家")},
        find=lambda memory, given: {"cat": (given.get("cat") or ["豆包"])[-1]},
    )  # fmt: skip


def test_a_plugin_adds_a_page_in_both_languages(fresh: Pages) -> None:
    fresh.add_plugin(Adds(make_page()))
    shown = fresh.read("/ui/cats?cat=<script>alert(1)</script>")
    assert "Ours &lt;script&gt;" in shown
    assert "<h1>Cats</h1>" in shown
    assert '"/ui/cats"' in fresh.read("/ui/held")
    fresh.post("/ui/language", {"lang": "zh"})
    assert "我家 豆包" in fresh.read("/ui/cats")


def test_a_plugin_page_that_fails_says_so(fresh: Pages) -> None:
    fresh.add_plugin(Adds(make_page(template="{{ nothing }}")))
    fresh.read("/ui/")
    failed = fresh.get("/ui/cats")
    assert failed.status_code == 400
    assert "cannot be rendered" in failed.text


@pytest.mark.parametrize("name", ["held", "enter", "Ünder", "", "a/b", "x" * 50])
def test_a_page_of_a_plugin_needs_a_free_name(fresh: Pages, name: str) -> None:
    with pytest.raises(PluginError, match="Choose a free name"):
        fresh.add_plugin(Adds(make_page(name)))


def test_memories_of_one_name_are_numbered(tmp_path: Path) -> None:
    desks = []
    for place in ("a/m", "b/m"):
        with Memory.create(tmp_path / place):
            pass
        desks.append(Desk(tmp_path / place, Home(tmp_path / "c", tmp_path / "s")))
    assert [room.base for room in make_rooms(desks)] == ["/ui/m", "/ui/m-2"]
    for desk in desks:
        desk.close()


def test_a_page_says_that_the_memory_is_opening(
    fresh: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    look: Callable[[Memory], Any] = rooms._look_at_files
    monkeypatch.setattr(rooms, "OPENING_SECONDS", 0.05)
    monkeypatch.setattr(rooms, "_look_at_files", lambda memory: go.wait(20) and look(memory))

    async def ask() -> tuple[bool, bool]:
        room = Room(fresh.desk)
        before = await room.is_open()
        go.set()
        while not await room.is_open():
            await asyncio.sleep(0.01)
        return before, await room.is_open()

    assert asyncio.run(ask()) == (False, True)
    page = fresh.opening_page()
    # Without JavaScript alone: nobody's page is loaded anew while they read it.
    assert '<noscript><meta http-equiv="refresh"' in page
    assert 'data-again="0"' in page


@pytest.mark.parametrize("copied", [False, True], ids=["written here", "copied in"])
def test_files_from_outside_are_read_twice_to_open_a_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copied: bool
) -> None:
    class Later:
        @staticmethod
        def time_ns() -> int:
            return time.time_ns() + 10_000_000_000

    for looks in (folder_scan, reconcile):
        monkeypatch.setattr(looks, "time", Later)
    monkeypatch.setattr(vetting, "_YOUNG_NS", 0)
    opening = Opening(home=Home(tmp_path / "config", tmp_path / "state"), background=False)
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        for number in range(9):
            file = memory.root / f"semantic/ports/port-{number}.md"
            file.parent.mkdir(exist_ok=True)
            file.write_text(CARD.format(number=number), "utf-8")
            if copied:
                os.utime(file, (1_700_000_000, 1_700_000_000))
        with opened_files() as names:
            rooms._look_at_files(memory)
        waiting = {path for path in Shelf(memory.store).waiting() if "port-" in path}
        assert len(waiting) == 9 * copied
        assert asking(memory).get("review", 0) == 9 * copied
    # For the index, and for its head: what else is asked of it is known from these.
    read = [name for name in names if "port-" in name]
    assert len(read) == 2 * 9, read


def test_a_first_look_says_how_far_it_is(fresh: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "FLUSH_UNITS", 5)
    room = Room(fresh.desk)
    told = [room.opened_percent]
    note = room.desk.memory.index.on_write
    assert note is not None

    def listen(done: int, total: int) -> None:
        note(done, total)
        told.append(room.opened_percent)

    room.desk.memory.index.on_write = listen
    for number in range(9):
        page = fresh.root / f"notes/{number}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"A heron {number}.", "utf-8")
    assert rooms._look_at_files(room.desk.memory)
    told.append(room.opened_percent)
    assert told[0] == 0
    assert told == sorted(told)
    assert 60 <= told[-2] <= told[-1] <= 99


def test_the_door_begins_to_open_the_memory(fresh: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    began = threading.Event()
    monkeypatch.setattr(rooms, "_look_at_files", lambda memory: began.set() or 0)

    async def knock() -> bool:
        transport = httpx.ASGITransport(app=fresh.app)
        async with httpx.AsyncClient(base_url=f"http://{HOST}", transport=transport) as client:
            await client.get("/ui/enter?code=none")
            return await asyncio.to_thread(began.wait, 20)

    assert asyncio.run(knock())
