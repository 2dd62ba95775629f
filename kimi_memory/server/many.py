"""Many memories behind one server: ``/m/NAME/v1/…`` is the API of the memory of a name.

Each has its own door, tokens and queues, as if it were served alone. One is opened when it is first
asked for; of those that nobody uses, the eldest is closed where too many are open.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kimi_memory.config import MARKER
from kimi_memory.server.app import App
from kimi_memory.server.server import Serving
from kimi_memory.server.workers import Desk
from kimi_memory.store.files.paths import is_plain

MOST = 64
"""So many memories are open at once; one takes a megabyte and eight files."""
_PREFIX = "/m/"

Application = Callable[[Any, Any, Any], Awaitable[None]]
Connection = MutableMapping[str, Any]


class Many:
    """The application of several memories.

    Args:
        first: answers everything else, and for a name that is none.
        serving: how memories are served.
        folder: where they are.
        stop: set when the server is asked to end.
        most: so many are open at once.
    """

    def __init__(
        self,
        first: Application,
        serving: Serving,
        folder: Path,
        stop: asyncio.Event,
        most: int = MOST,
    ) -> None:
        self._first, self._serving, self._folder = first, serving, folder
        self._stop, self._most = stop, most
        self._opened: OrderedDict[str, tuple[App, Desk]] = OrderedDict()
        self._busy: Counter[str] = Counter()
        """How many requests and streams of each are under way."""
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Connection, receive: Any, send: Any) -> None:
        """Answer one request."""
        name, path = _split(str(scope.get("path", "")))
        app = await self._open(name) if name else None
        if app is None:
            await self._first(scope, receive, send)
            return
        inner = dict(scope) | {"path": path, "raw_path": path.encode(), "state": {}}
        self._busy[name] += 1
        try:
            await app(inner, receive, send)
        finally:
            self._busy[name] -= 1

    async def _open(self, name: str) -> App | None:
        async with self._opening:
            if name not in self._opened:
                root = self._folder / name
                # A link could lead to a memory that nobody wanted to have served.
                sound = is_plain(name) and "/" not in name and not root.is_symlink()
                if not (sound and (root / MARKER).is_file()):
                    return None
                self._opened[name] = await asyncio.to_thread(self._make, root)
            self._opened.move_to_end(name)
            idle = [one for one in self._opened if not self._busy[one] and one != name]
            for one in idle[: max(0, len(self._opened) - self._most)]:
                await asyncio.to_thread(self._opened.pop(one)[1].close)
            return self._opened[name][0]

    def _make(self, root: Path) -> tuple[App, Desk]:
        desk = Desk(root, self._serving.home, self._serving.limits.waiting)
        with ExitStack() as otherwise:
            otherwise.callback(desk.close)
            app = App(desk, desk.tokens(), self._serving, self._stop)
            otherwise.pop_all()
        return app, desk

    def close(self) -> None:
        """Close all memories."""
        while self._opened:
            self._opened.popitem()[1][1].close()


def _split(path: str) -> tuple[str, str]:
    """Return the name of a memory and the path below it; no name for another path."""
    if not path.startswith(_PREFIX):
        return "", path
    name, slash, rest = path.removeprefix(_PREFIX).partition("/")
    return name, slash + rest
