"""One memory behind its pages, asked without a socket; shared by all tests that only look."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette", reason="needs the libraries of kimi-memory[http]")

from fakes.pages import PAYLOADS, Pages  # noqa: E402  after the look for it

from kimi_memory import Memory, Opening  # noqa: E402  after the look for it
from kimi_memory.api.options import Home  # noqa: E402  after the look for it
from kimi_memory.hooks.host import Host  # noqa: E402  after the look for it


@pytest.fixture(scope="package")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory of which some texts are attacks, and its owner's directories."""
    base = tmp_path_factory.mktemp("filled")
    home = Home(base / "config", base / "state")
    opening = Opening(home=home, host=Host(entry_points=False), background=False)
    with Memory.create(base / "记忆", name="Pages", opening=opening) as memory:
        fill(memory)
    return base


@pytest.fixture(scope="package")
def pages(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    """Pages of that memory; who asks may not change it."""
    with copied(filled, tmp_path_factory.mktemp("pages") / "home") as made:
        yield made


@pytest.fixture
def fresh(filled: Path, tmp_path: Path) -> Iterator[Pages]:
    """Pages of a memory that a test may change."""
    with copied(filled, tmp_path / "home") as made:
        yield made


def copied(filled: Path, base: Path) -> Pages:
    shutil.copytree(filled, base)
    return Pages(base / "记忆", Home(base / "config", base / "state"))


def fill(memory: Memory) -> None:
    with memory.session("talk", project="小灶", user="林夏", agent="小K") as session:
        session.turn("user", "我们决定数据库用 MongoDB，因为大家都会。", speaker="林夏")
        session.turn("assistant", "好，我来装。", speaker="小K")
        for payload in PAYLOADS:
            session.turn("user", f"lt amp {payload} quot", speaker=payload[:80])
    memory.end("talk")
    memory.remember("The staging port is 6543.", key="staging.port", project="apollo")
    memory.remember(f"Say {PAYLOADS[0]} to everybody.", key="greeting")
    with memory.session("talk-2", project="小灶", user="林夏") as session:
        session.turn("user", "数据库不用 MongoDB 了，改用 SQLite。", speaker="林夏")
    memory.end("talk-2")
