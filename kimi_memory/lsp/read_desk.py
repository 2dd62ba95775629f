"""A memory that is open for the questions of an editor."""

from __future__ import annotations

import threading
from pathlib import Path

from kimi_memory.lsp.answers import Reader
from kimi_memory.lsp.deeds import Deeds, open_reading
from kimi_memory.lsp.vault import Vault

RESCAN_S = 60.0
"""So often all files are looked at, for editors that do not say what changed."""


class Desk:
    """One memory, opened for questions; one question at a time.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.guard = root, threading.RLock()
        self.vault = Vault(root)
        self.reader = Reader(open_reading(root), self.vault)
        self.deeds = Deeds(root, self.reader)
        self._closed = threading.Event()
        self.filling = threading.Thread(target=self._keep_filled, name="vault", daemon=True)

    def _keep_filled(self) -> None:
        while not self._closed.is_set():
            self.vault.fill()
            self._closed.wait(RESCAN_S)

    def close(self) -> None:
        """Let go of the memory."""
        self._closed.set()
        with self.guard:
            self.reader.memory.close()
