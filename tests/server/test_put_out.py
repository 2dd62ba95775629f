"""A member that is put out, and a token that is taken back, amid what they began: no more comes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
pytest.importorskip("jwt", reason="needs the library of kimi-memory[team]")

from kimi_memory import Memory, Opening
from kimi_memory.domain.ids import utcnow
from kimi_memory.server.principal import Namespace, Scope
from tests.server.test_guard import Team, team

__all__ = ["team"]
EVERY = (Scope.READ, Scope.WRITE, Scope.ADMIN)


def wait_for(done: Callable[[], bool]) -> None:
    for _ in range(2000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def is_kept(team: Team, text: str) -> bool:
    with Memory.open(team.root, Opening(home=team.home)) as memory:
        return any(text in hit.unit.text for hit in memory.recall(text).hits)


def hold(team: Team, gate: threading.Event) -> Callable[[], Any]:
    """Return what keeps the queue of readers busy until a gate opens."""
    return lambda: asyncio.run(team.pages.desk.read(lambda memory: gate.wait(60)))


def test_a_page_that_waited_for_its_turn_is_not_shown(team: Team) -> None:
    team.space.add("ida", ["owner"])
    team.pages.sit(token=team._token("ida", (Scope.PERSON,)))
    path, gate = "/ui/search?q=shop+opens", threading.Event()
    assert "nine" in team.pages.get(path).text
    before, desk, idle = len(team.lines()), team.pages.desk, team.pages.desk.waiting
    with ThreadPoolExecutor(2) as pool:
        holding = pool.submit(hold(team, gate))
        wait_for(lambda: desk.waiting > idle)
        asked = pool.submit(team.pages.get, path)
        wait_for(lambda: len(team.lines()) > before and desk.waiting > idle + 1)
        team.space.remove("ida")
        gate.set()
        holding.result()
        said = asked.result()
    assert said.status_code == 403 and "nine" not in said.text
    team.pages.cookies = {}


@pytest.mark.parametrize("member", ["eva", ""])
def test_a_body_that_comes_late_changes_nothing(team: Team, member: str) -> None:
    """Of a member that was put out, and of a token that was taken back."""
    team.space.add(member or "uma", ["owner"])
    token, secret = team.pages.tokens.add(
        "late", EVERY, Namespace(), utcnow(), member=member or "uma"
    )

    async def body() -> AsyncIterator[bytes]:
        yield b'{"text": "The late boat '
        if member:
            team.space.remove(member)
        else:
            team.pages.tokens.remove(token.id)
        yield b'is moored in Bergen."}'

    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    said = team.pages.send("POST", "/v1/remember", headers=headers, content=body())
    assert said.status_code == (403 if member else 401), said.text
    assert not is_kept(team, "Bergen")
    if member:
        team.pages.tokens.remove(token.id)
    else:
        team.space.remove("uma")


def test_a_write_that_waited_for_its_turn_is_not_done(team: Team) -> None:
    """Of a token that was taken back while a job was at work."""
    token, secret = team.pages.tokens.add("slow", EVERY, Namespace(), utcnow(), member="ona")
    gate, desk, idle = threading.Event(), team.pages.desk, team.pages.desk.waiting
    headers = {"authorization": f"Bearer {secret}"}

    def busy() -> None:
        asyncio.run(desk.change(lambda memory: gate.wait(60), token.caller))

    def send() -> Any:
        told = {"text": "The slow boat is moored in Tromso."}
        return team.pages.send("POST", "/v1/remember", headers=headers, json=told)

    with ThreadPoolExecutor(2) as pool:
        holding = pool.submit(busy)
        wait_for(lambda: desk.waiting > idle)
        asked = pool.submit(send)
        wait_for(lambda: desk.waiting > idle + 1)
        team.pages.tokens.remove(token.id)
        gate.set()
        holding.result()
        assert asked.result().status_code == 401
    assert not is_kept(team, "Tromso")


@pytest.mark.parametrize("path", ["/v1/events", "/ui/live"])
def test_what_a_slow_reader_has_not_taken_yet_is_not_sent(team: Team, path: str) -> None:
    team.space.add("mia", ["owner"])
    headers = [(b"host", b"127.0.0.1:8378")]
    # What a server is stopped with belongs to the loop that it runs in.
    team.pages.stop = asyncio.Event()
    team.pages._make_app()
    if path == "/ui/live":
        team.pages.sit(token=team._token("mia", (Scope.PERSON,)))
        pairs = "; ".join(f"{name}={value}" for name, value in team.pages.cookies.items())
        headers.append((b"cookie", pairs.encode()))
    else:
        headers.append((b"authorization", f"Bearer {team._token('mia', EVERY)}".encode()))
    sent = asyncio.run(follow(team, path, headers))
    news = [number for number, part in enumerate(sent) if b"data:" in part]
    # What it had taken when the member was put out was the last.
    assert len(news) == 1, sent
    team.pages.cookies = {}


async def follow(team: Team, path: str, headers: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Follow what happens; the member is put out when the first news of two is taken."""
    sent: list[bytes] = []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "headers": headers, "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8378),
    }  # fmt: skip
    out = False

    async def send(message: Any) -> None:
        nonlocal out
        part = message.get("body", b"")
        sent.append(part)
        if b"retry:" in part:
            with Memory.open(team.root, Opening(home=team.home)) as memory:
                chat = memory.session("s-shared", user="mia")
                chat.turn("user", "The first ferry leaves at six.")
                chat.turn("user", "The second ferry leaves at seven.")
        elif b"data:" in part and not out:
            team.space.remove("mia")
            out = True

    async def receive() -> Any:
        await asyncio.sleep(3600)

    async with asyncio.timeout(60):
        await team.pages.app(scope, receive, send)
    assert out
    return sent
