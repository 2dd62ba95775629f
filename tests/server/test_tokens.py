"""Tokens: kept by hash, for one memory, valid until they are taken back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.api.options import Home
from kimi_memory.errors import NotFoundError, ServerError, UsageError
from kimi_memory.server.principal import Namespace, Scope
from kimi_memory.server.tokens import FILE, Tokens, hidden

NOW = datetime(2026, 2, 27, tzinfo=UTC)


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
