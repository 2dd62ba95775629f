"""A scripted chat server, and proxies before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.chats import Chats, chatting, fill
from fakes.served import Served
from fakes.served import serving as started

pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Starts servers; they are ended with the tests of the module."""
    with started(tmp_path_factory.mktemp("logs")) as start:
        yield start


@pytest.fixture(scope="module")
def upstream() -> Iterator[Chats]:
    """The model server behind the proxies of a module."""
    with chatting() as chats:
        yield chats


@pytest.fixture
def chats(upstream: Chats) -> Chats:
    """The same, as if nobody had asked it before."""
    upstream.reply, upstream.status, upstream.pace = "Noted.", 200, None
    upstream.breaks, upstream.endless, upstream.calls = False, False, None
    upstream.asked.clear()
    upstream.left.clear()
    return upstream


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory in two languages and two projects."""
    base = tmp_path_factory.mktemp("proxied")
    fill(base / "记忆")
    return base


@pytest.fixture(scope="module")
def proxied(serving: Callable[..., Served], folder: Path, upstream: Chats) -> Served:
    """A proxy without tokens, before the chat server."""
    return serving(
        folder / "记忆", folder / "home", "--upstream", f"{upstream.url}/v1", command="proxy"
    )


@pytest.fixture(scope="module")
def guarded(
    serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory, upstream: Chats
) -> tuple[Served, dict[str, str]]:
    """A proxy with tokens, before the chat server, and their secrets."""
    base = tmp_path_factory.mktemp("guarded")
    fill(base / "记忆")
    there = Served(base / "记忆", base / "home")
    secrets = {
        "reader": there.token("reader", "--scope", "read"),
        "writer": there.token("writer", "--scope", "write"),
        "apollo": there.token("apollo", "--project", "apollo"),
        "hermes": there.token("hermes", "--project", "hermes"),
    }
    options = ("--upstream", upstream.url, "--allow-origin", "https://page.test")
    return serving(there.root, there.home, *options, command="proxy"), secrets
