"""The door: names, pages, proxies and tokens that are not ours stay outside."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.errors import NotFoundError, ServerError, UsageError
from kimi_memory.server.auth import FILE, LOCAL, Door, Names, Tokens, hidden
from kimi_memory.server.principal import Namespace, Scope

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


def test_a_secret_is_kept_by_its_hash_alone(home: Home, tmp_path: Path) -> None:
    tokens = Tokens(home, tmp_path / "memory", "memory-memory")
    token, secret = tokens.add("小王", [Scope.READ], Namespace("apollo", "scout"), NOW)
    stored = home.state / FILE
    assert secret not in stored.read_text("utf-8")
    assert stored.stat().st_mode & 0o777 == 0o600
    assert hidden(token).hash == ""
    caller = tokens.caller(secret)
    assert caller is not None
    assert (caller.name, caller.scopes) == ("小王", {Scope.READ})
    assert caller.space == Namespace("apollo", "scout")
    assert tokens.caller(secret + "x") is None
    assert tokens.caller("") is None


def test_a_token_opens_one_memory_only(home: Home, tmp_path: Path) -> None:
    _, secret = Tokens(home, tmp_path / "a", "memory-a").add("one", [Scope.ADMIN], Namespace(), NOW)
    assert Tokens(home, tmp_path / "b", "memory-b").caller(secret) is None
    assert Tokens(home, tmp_path / "b", "memory-b").all() == ()


def test_what_another_process_changes_holds_at_once(home: Home, tmp_path: Path) -> None:
    ours, theirs = Tokens(home, tmp_path, "memory-1"), Tokens(home, tmp_path, "memory-1")
    assert ours.all() == ()
    token, secret = theirs.add("late", [Scope.READ], Namespace(), NOW)
    assert ours.caller(secret) is not None
    assert theirs.remove(token.id) == token
    assert ours.caller(secret) is None


def test_what_cannot_be_removed_or_named_is_refused(home: Home, tmp_path: Path) -> None:
    tokens = Tokens(home, tmp_path, "memory-1")
    for _ in range(2):
        tokens.add("twin", [Scope.READ], Namespace(), NOW)
    for id in ("none", "twin"):
        with pytest.raises(NotFoundError):
            tokens.remove(id)
    with pytest.raises(UsageError):
        tokens.add(" ", [Scope.READ], Namespace(), NOW)


@pytest.mark.parametrize("text", ["{", "[1]", '[{"id": "x"}]', '[{"created": "never"}]'])
def test_a_broken_file_lets_nobody_in(home: Home, tmp_path: Path, text: str) -> None:
    home.state.mkdir(parents=True)
    (home.state / FILE).write_text(text)
    with pytest.raises(ServerError) as refused:
        Tokens(home, tmp_path, "memory-1").caller("x")
    assert refused.value.status == 503


def test_a_token_goes_with_its_memory_where_that_moves(home: Home, tmp_path: Path) -> None:
    _, secret = Tokens(home, tmp_path / "here", "memory-1").add("x", [Scope.READ], Namespace(), NOW)
    assert Tokens(home, tmp_path / "there", "memory-1").caller(secret) is not None
    # Another memory in the old place is another memory.
    assert Tokens(home, tmp_path / "here", "memory-2").caller(secret) is None


def test_a_token_of_a_folder_becomes_one_of_its_memory(home: Home, tmp_path: Path) -> None:
    tokens = Tokens(home, tmp_path, "memory-1")
    _, secret = tokens.add("old", [Scope.READ], Namespace(), NOW)
    path = home.state / FILE
    path.write_text(path.read_text().replace("memory-1", str(tmp_path)))
    assert tokens.caller(secret) is not None
    assert Tokens(home, tmp_path / "moved", "memory-1").caller(secret) is None
    tokens.add("new", [Scope.READ], Namespace(), NOW)
    assert Tokens(home, tmp_path / "moved", "memory-1").caller(secret) is not None
