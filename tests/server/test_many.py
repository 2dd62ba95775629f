"""Several memories behind one server: each with its own door, opened when it is asked for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.server.auth import Tokens
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.server import Serving

pytest.importorskip("starlette", reason="needs the libraries of kimi-memory[http]")


async def first(scope: Any, receive: Any, send: Any) -> None:
    """What answers everything else."""
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"of the first"})


def test_each_memory_is_asked_by_its_name_and_with_its_own_token(tmp_path: Path) -> None:
    from kimi_memory.server.many import Many

    home = Home(tmp_path / "config", tmp_path / "state")
    opening = Opening(home=home, background=False)
    for name, text in (
        ("shop", "部署定在每周五下午。"),
        ("lab", "The queue is RabbitMQ."),
        ("x", "X."),
    ):
        with Memory.create(tmp_path / "all" / name, name=name, opening=opening) as memory:
            memory.remember(text, key="fact")
            if name == "lab":
                tokens = Tokens(home, memory.root, memory.settings.memory.id)
                _, secret = tokens.add("me", [Scope.READ], Namespace(), memory.clock())
    (tmp_path / "all" / "link").symlink_to(tmp_path / "all" / "shop")
    serving = Serving(root=tmp_path / "all" / "shop", home=home)

    async def ask() -> None:
        many = Many(first, serving, tmp_path / "all", asyncio.Event(), most=2)
        transport = httpx.ASGITransport(app=many)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            asked = {"query": "哪天部署？"}
            found = await client.post("/m/shop/v1/recall", json=asked)
            assert found.status_code == 200 and "每周五" in found.text
            refused = await client.post("/m/lab/v1/recall", json=asked)
            assert refused.status_code == 401
            given = {"authorization": f"Bearer {secret}"}
            found = await client.post("/m/lab/v1/recall", json={"query": "queue"}, headers=given)
            assert "RabbitMQ" in found.text and "每周五" not in found.text
            wrong = await client.post("/m/lab/v1/recall", json=asked, headers={"host": "evil.test"})
            assert wrong.status_code == 421
            for name in ("none", "link", "..", ".", ""):
                other = await client.post(f"/m/{name}/v1/recall", json=asked)
                assert other.text == "of the first", name
            assert (await client.post("/m/x/v1/recall", json=asked)).status_code == 200
            assert [*many._opened] == ["lab", "x"], "the eldest that nobody uses was closed"
            assert (await client.post("/m/shop/v1/recall", json=asked)).status_code == 200
        many.close()

    asyncio.run(ask())
