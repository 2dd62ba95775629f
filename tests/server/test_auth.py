"""The door: names, pages and proxies that are not ours stay outside."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.errors import ServerError
from kimi_memory.server.auth import LOCAL, Door, Names
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.tokens import Tokens

NOW = datetime(2026, 2, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    ("bound", "host", "known"),
    [
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "127.8.8.8:1", True),
        ("127.0.0.1", "[::1]", True),
        ("127.0.0.1", "192.168.1.2", False),
        ("127.0.0.1", "memory.test", True),
        ("127.0.0.1", "xmemory.test", False),
        ("0.0.0.0", "192.168.1.2:80", True),
        ("0.0.0.0", "[fe80::1]:80", True),
        ("0.0.0.0", "evil.test", False),
        ("0.0.0.0", "localhost:port", False),
        ("0.0.0.0", "[::1", False),
        ("0.0.0.0", "a@localhost", False),
        ("0.0.0.0", "", False),
    ],
)
def test_a_server_is_called_by_its_own_names(
    home: Home, tmp_path: Path, bound: str, host: str, known: bool
) -> None:
    tokens = Tokens(home, tmp_path, "memory-1")
    tokens.add("one", [Scope.READ], Namespace(), NOW)
    door = Door(tokens, Names(bound=bound, hosts=["memory.test"]))
    if known:
        door.check({"host": host})
    else:
        with pytest.raises(ServerError, match="not known by that name"):
            door.check({"host": host})


def test_a_server_that_once_had_a_token_never_does_without(home: Home, tmp_path: Path) -> None:
    tokens = Tokens(home, tmp_path, "memory-1")
    door = Door(tokens, Names())
    assert asyncio.run(door.caller("")) is LOCAL
    token, secret = tokens.add("one", [Scope.READ], Namespace(), NOW)
    assert asyncio.run(door.caller(f"bearer {secret}")).name == "one"
    for wrong in ("", "Bearer", f"Basic {secret}", f"Bearer {secret[:-1]}", secret):
        with pytest.raises(ServerError, match="token is needed"):
            asyncio.run(door.caller(wrong))
    tokens.remove(token.id)
    with pytest.raises(ServerError):
        asyncio.run(door.caller(""))
