"""The client of a memory server: the methods of the library, over HTTP.

`Client` waits for answers, `AsyncClient` is for programs with an event loop. Both return
the library's own values and raise its own errors.
"""

from __future__ import annotations

from kimi_memory.client.async_client import AsyncClient, AsyncSession
from kimi_memory.client.sync_client import Client, ClientSession

__all__ = ["AsyncClient", "AsyncSession", "Client", "ClientSession"]
