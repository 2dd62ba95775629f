"""The running proxy: one model server behind it, one memory beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.proxy.app import Proxy
from kimi_memory.proxy.memory_bridge import Budgets, Companion
from kimi_memory.proxy.upstream import Upstream
from kimi_memory.server.auth import Door, Tokens
from kimi_memory.server.principal import Namespace
from kimi_memory.server.server import Serving, serve_app

if TYPE_CHECKING:
    from kimi_memory.server.workers import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where the proxy stands, and how much it says."""

    serving: Serving
    upstream: str
    """Address of the model server."""
    budgets: Budgets = field(default_factory=Budgets)
    space: Namespace = field(default_factory=Namespace)
    """Project and agent of chats that name none."""


def proxy(
    standing: Standing, ready: Callable[[str, bool], None] = lambda url, guarded: None
) -> None:
    """Stand between chats and a model server until the process is asked to end.

    Raises:
        UsageError: as `kimi_memory.server.server.serve` does, or the model server's
            address is none.
    """
    upstream = Upstream(standing.upstream)

    def made(desk: Desk, tokens: Tokens, stop: asyncio.Event) -> Any:
        names, companion = standing.serving.names, Companion(desk, standing.budgets)
        door = Door(tokens, names, desk.issued)
        return Proxy(desk, door, companion, upstream, names=names, space=standing.space)

    serve_app(standing.serving, made, ready)
