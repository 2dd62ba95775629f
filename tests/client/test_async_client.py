"""The client of event loops: the same methods, awaited."""

from __future__ import annotations

import asyncio

import pytest
from fakes.served import Served

from docs.async_client import MADE, async_client
from kimi_memory.client import AsyncClient, Client
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError, ServerError


def test_both_clients_have_the_same_methods() -> None:
    def names(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert names(Client) == names(AsyncClient)


def test_every_method_can_be_awaited(served: Served) -> None:
    async def steps() -> None:
        async with AsyncClient(served.url) as memory:
            assert (await memory.health()).status == "ok"
            async with await memory.session("async", project="sea") as session:
                assert (await session.turn("user", "记住：桅杆高 21 米。")).n == 1
                await session.state(task={"goal": "sail"})
                assert "async" in await memory.sessions()
            report = await memory.remember("The rudder is of oak.", key="rudder")
            assert (await memory.recall("rudder oak")).hits
            assert (await memory.search("桅杆多高"))[0].snippet
            assert (await memory.context("task", "rudder")).tokens
            assert (await memory.append("A note.")).stored
            assert await memory.read("MEMORY.md")
            card = report.operations[0].target
            assert (await memory.get(card)).path
            assert (await memory.trace(card)).evidence
            gone = await memory.forget(Wanted(note=card))
            assert (await memory.undo(gone.id)).id == gone.id
            assert await memory.log()
            assert isinstance(await memory.diff(), str)
            assert await memory.distil() == []
            assert await memory.consolidate("daily", dry_run=True)
            [waits] = await memory.review()
            assert waits.text == "The rudder is of oak."
            assert await memory.conflicts() == []
            assert (await memory.status()).turns
            assert await memory.metrics()
            async for event in memory.events(after=1):
                assert event.seq > 1
                break
            with pytest.raises(NotFoundError):
                await memory.end("none")

    asyncio.run(steps())


def test_who_does_not_answer_is_named(served: Served) -> None:
    async def steps() -> None:
        async with AsyncClient("http://127.0.0.1:9", seconds=2) as memory:
            for call in (memory.health, memory.metrics):
                with pytest.raises(ServerError, match="No answer"):
                    await call()
            with pytest.raises(ServerError, match="No answer"):
                await anext(memory.events())
        async with AsyncClient(served.url, "kmt_x") as memory:
            assert (await memory.health()).version

    asyncio.run(steps())


def test_it_is_made_of_the_client_that_waits() -> None:
    assert MADE.read_text(encoding="utf-8") == async_client(), "run python -m docs.async_client"
