"""Views of open sessions: derived files that follow their truth at a short distance."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from kimi_memory.errors import StoreError
from kimi_memory.store.store import Store


class Views:
    """Writes derived files, each at most once in a while.

    A view is not worth a wait of its own on every turn: in a long-lived process it
    follows within `pause_seconds`, in a short one (0) it is written at once.

    Args:
        store: where the files go.
        pause_seconds: longest time a view may be behind.
    """

    def __init__(self, store: Store, pause_seconds: float = 0.0) -> None:
        self._store, self._pause = store, pause_seconds
        self._due: dict[str, Callable[[], bytes]] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def show(self, path: str, content: Callable[[], bytes]) -> None:
        """Let the file at `path` show `content`, now or soon; the latest content counts."""
        if not self._pause:
            self._write_view(path, content)
            return
        with self._lock:
            self._due[path] = content
            if self._timer is None:
                self._timer = threading.Timer(self._pause, self._catch_up)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Write what is due; nothing follows after this."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
        self.write()

    def write(self) -> None:
        """Write what is due, now."""
        with self._lock:
            due, self._due = self._due, {}
        for path, content in due.items():
            self._write_view(path, content)

    def _write_view(self, path: str, content: Callable[[], bytes]) -> None:
        # The turn is stored; that its view is behind is no reason to say that it is not.
        with suppress(StoreError):
            self._store.view(path, content())

    def _catch_up(self) -> None:
        with self._lock:
            self._timer = None
        self.write()
