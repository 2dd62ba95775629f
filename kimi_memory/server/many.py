"""Many memories behind one server: ``/m/NAME/v1/…`` is the API of the memory of a name.

Each has its own door, tokens and queues, as if it were served alone. One is opened when it is first
asked for; of those that nobody uses, the eldest is closed where too many are open.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory.config import MARKER
from kimi_memory.server.app import App, Office
from kimi_memory.server.server import Serving
from kimi_memory.server.workers import Desk
from kimi_memory.store.files.paths import is_plain

MOST = 64
"""So many memories are open at once; one takes a megabyte and eight files."""
_PREFIX = "/m/"

Application = Callable[[Any, Any, Any], Awaitable[None]]
Connection = MutableMapping[str, Any]


class _Opened:
    """A memory that is open."""

    def __init__(self, app: App, desk: Desk) -> None:
        self.app, self.desk = app, desk
        self.busy = 0
        """So many requests and streams are under way."""


class Folder(NamedTuple):
    """A folder whose memories are served by their names."""

    path: Path

    def find(self, name: str) -> Path | None:
        """Return the memory of a name; None where there is none."""
        place = self.path / name
        # A link could lead to a memory that nobody wanted to have served.
        sound = is_plain(name) and "/" not in name and not place.is_symlink()
        return place if sound and (place / MARKER).is_file() else None


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
        folder: Folder,
        stop: asyncio.Event,
        most: int = MOST,
    ) -> None:
        self._first, self._serving, self._folder = first, serving, folder
        self._stop, self._most = stop, most
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Connection, receive: Any, send: Any) -> None:
        """Answer one request."""
        name, path = _split(str(scope.get("path", "")))
        opened = await self._open(name) if name else None
        if opened is None:
            await self._first(scope, receive, send)
            return
        inner = dict(scope) | {"path": path, "raw_path": path.encode(), "state": {}}
        opened.busy += 1
        try:
            await opened.app(inner, receive, send)
        finally:
            opened.busy -= 1

    async def _open(self, name: str) -> _Opened | None:
        async with self._opening:
            found = self._opened.get(name)
            if found is None:
                root = self._folder.find(name)
                if root is None:
                    return None
                found = self._opened[name] = await asyncio.to_thread(self._make, root)
            self._opened.move_to_end(name)
            idle = [one for one, opened in self._opened.items() if not opened.busy and one != name]
            for one in idle[: max(0, len(self._opened) - self._most)]:
                await asyncio.to_thread(self._opened.pop(one).desk.close)
            return found

    def _make(self, root: Path) -> _Opened:
        limits = self._serving.limits
        desk = Desk(root, self._serving.home, limits.waiting)
        with ExitStack() as otherwise:
            otherwise.callback(desk.close)
            office = Office(
                desk=desk, tokens=desk.tokens(), names=self._serving.names, limits=limits,
                stop=self._stop,
            )  # fmt: skip
            found = _Opened(App(office), desk)
            otherwise.pop_all()
        return found

    def close(self) -> None:
        """Close all memories."""
        while self._opened:
            self._opened.popitem()[1].desk.close()


def _split(path: str) -> tuple[str, str]:
    """Return the name of a memory and the path below it; no name for another path."""
    if not path.startswith(_PREFIX):
        return "", path
    name, slash, rest = path.removeprefix(_PREFIX).partition("/")
    return name, slash + rest
