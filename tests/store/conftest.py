"""A store in a fresh folder, and the actor who writes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor
from kimi_memory.store.store import Store

KEY = b"a key of this machine"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def tick() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "记忆"
    found.mkdir()
    return found


@pytest.fixture
def store(folder: Path, tick: Clock) -> Iterator[Store]:
    with Store.open(folder, key=KEY, clock=tick, timeout_seconds=5.0) as opened:
        yield opened


@pytest.fixture
def actor() -> Actor:
    return Actor("cli", session="01a", job="")
