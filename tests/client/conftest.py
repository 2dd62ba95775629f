"""Servers for clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.served import Served, serving

from kimi_memory import Memory

pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of this machine, without tokens."""
    base = tmp_path_factory.mktemp("served")
    Memory.create(base / "记忆").close()
    with serving(base) as start:
        yield start(base / "记忆", base / "home")


@pytest.fixture
def served_with_token(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    """A server that asks for a token, and one that may read."""
    Memory.create(tmp_path / "memory").close()
    secret = Served(tmp_path / "memory", tmp_path / "home").token("reader", "--scope", "read")
    with serving(tmp_path) as start:
        yield start(tmp_path / "memory", tmp_path / "home"), secret
