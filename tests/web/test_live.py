"""Live: an open page learns that something was stored, and nothing of what it says."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from fakes.pages import Pages

from kimi_memory.errors import ServerError
from kimi_memory.server.principal import Namespace
from kimi_memory.web import live
from kimi_memory.web.live import Live
from kimi_memory.web.seats import OWNER


def test_a_page_learns_what_is_stored_within_a_second(fresh: Pages) -> None:
    async def listen() -> list[str]:
        stop = asyncio.Event()
        told, lines = Live(stop), list[str]()
        stream = await told.follow(fresh.desk, Namespace(), lambda: True)
        lines.append(await anext(stream))
        await fresh.desk.change(lambda memory: memory.remember("Tea is green."), OWNER)
        async with asyncio.timeout(10):
            while not any('"job"' in line for line in lines):
                lines.append(await anext(stream))
        stop.set()
        async for line in stream:
            lines.append(line)
        return lines

    first, *rest = asyncio.run(listen())
    assert first.startswith("retry:")
    told = [json.loads(line) for line in re.findall(r"^data: (.*)$", "".join(rest), re.M)]
    assert {"capture", "job"} <= {one["kind"] for one in told}
    assert "Tea" not in "".join(rest)


def test_too_many_streams_are_refused(fresh: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_two() -> None:
        told = Live(asyncio.Event())
        stream = await told.follow(fresh.desk, Namespace(), lambda: True)
        await anext(stream)
        with pytest.raises(ServerError):
            await told.follow(fresh.desk, Namespace(), lambda: True)
        await stream.aclose()
        await told.follow(fresh.desk, Namespace(), lambda: True)

    monkeypatch.setattr(live, "MOST", 1)
    asyncio.run(open_two())


def test_without_a_seat_nobody_is_told(pages: Pages) -> None:
    assert pages.send("GET", "/ui/live").status_code == 401


def test_the_stream_of_a_page_ends_with_its_seat(fresh: Pages) -> None:
    seated = [True]

    async def listen() -> list[str]:
        stream = await Live(asyncio.Event()).follow(fresh.desk, Namespace(), lambda: seated[0])
        lines = [await anext(stream)]
        seated[0] = False
        await fresh.desk.change(lambda memory: memory.remember("Tea is black."), OWNER)
        async with asyncio.timeout(10):
            lines += [line async for line in stream]
        return lines

    assert asyncio.run(listen()) == ["retry: 2000\n\n"]
