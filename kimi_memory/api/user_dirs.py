"""The user's own directories: settings, machine-local keys; the one reader of the environment."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from kimi_memory.config import UserConfig, read_user

_KEY = 32
"""Bytes of a machine's key."""


class Home(NamedTuple):
    """Where a user keeps what must not lie in a memory folder."""

    config: Path
    """Holds ``config.toml`` and ``plugins/``."""
    state: Path
    """Holds ``key``: 32 random bytes that never leave this machine."""

    @classmethod
    def of_user(cls) -> Home:
        """Return the directories of the user who runs this process."""
        import platformdirs

        return cls(
            platformdirs.user_config_path("kimi_memory", appauthor=False),
            platformdirs.user_state_path("kimi_memory", appauthor=False),
        )

    def settings(self) -> UserConfig:
        """Read the user's settings; defaults where there are none."""
        return read_user(self.config)

    def key(self) -> bytes:
        """Return the machine's key, made at first use.

        It signs indexes and the journal, and marks masked secrets. Where the
        directory cannot be written, a key for this process alone is returned:
        indexes are then rebuilt instead of trusted.
        """
        path, fresh = self.state / "key", b""
        with contextlib.suppress(OSError):
            if not path.exists():
                fresh = os.urandom(_KEY)
                self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
                with contextlib.suppress(FileExistsError):
                    _create_key_file(path, fresh)
            stored = path.read_bytes()
            # A file cut short by a full disk is no key: nothing it signs could be trusted.
            if len(stored) == _KEY:
                return stored
        return fresh or os.urandom(_KEY)

    def keeps(self, key: bytes) -> bool:
        """Whether a key is the machine's, and not of this process alone."""
        with contextlib.suppress(OSError):
            return (self.state / "key").read_bytes() == key
        return False


def _create_key_file(path: Path, content: bytes) -> None:
    """Make the key file whole or not at all: two first uses must agree on one key."""
    part = path.with_name(f"key.{os.urandom(8).hex()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    try:
        # A link fails where there is a key already: that one then holds for both processes.
        os.link(part, path)
    finally:
        part.unlink()
