"""Servers of memories for the tests of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.served import Served
from fakes.served import serving as started

from kimi_memory import Memory

pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Starts servers; they are ended with the tests of the module."""
    with started(tmp_path_factory.mktemp("logs")) as start:
        yield start


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a module, with a memory in two languages and two projects."""
    base = tmp_path_factory.mktemp("served")
    with Memory.create(base / "记忆") as memory:
        memory.remember("The staging database listens on port 6543.", key="staging.port")
        memory.remember("部署定在每周五下午。", key="deploy.day", project="apollo")
        memory.remember("The launch code word of hermes is marigold.", project="hermes")
        session = memory.session("s-apollo", project="apollo", agent="scout")
        session.turn("user", "Apollo ships from the harbour of Trondheim.")
        session = memory.session("s-hermes", project="hermes", agent="clerk")
        session.turn("user", "Hermes ships from the harbour of Valparaiso.")
    return base


@pytest.fixture(scope="module")
def served(serving: Callable[..., Served], folder: Path) -> Served:
    """A server without tokens, for this machine only."""
    return serving(folder / "记忆", folder / "home")
