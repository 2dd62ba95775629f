"""How a memory is opened: clock, plugins, and the settings of folder and user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory.api.user_dirs import Home
from kimi_memory.config import MARKER, Settings, parse_settings
from kimi_memory.domain.change import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.store.files.ownership import claim
from kimi_memory.store.store import Store


def utcnow() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


_LIBRARY = Actor("library", Origin.HUMAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a memory is opened; the defaults are the user's own."""

    home: Home | None = None
    """Where settings and keys of the user lie."""
    clock: Callable[[], datetime] = utcnow
    actor: Actor = _LIBRARY
    host: Host | None = None
    """Plugins; by default the bundled, installed and one-file ones."""
    background: bool = True
    """Whether a thread commits to git while the memory stays open."""


def read_settings(root: Path) -> Settings:
    """Read ``memory.toml`` of a folder; FormatError or UsageError say what is wrong."""
    path = root / MARKER
    try:
        return parse_settings(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Make it readable.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error


def open_store(root: Path, home: Home, key: bytes, clock: Callable[[], datetime]) -> Store:
    """Open the files of a memory; what a stranger left in its private folder is set aside."""
    # A key of this process alone would set aside what the machine's own key signed.
    if home.keeps(key):
        claim(root, key)
    return Store.open(root, key=key, clock=clock)


def user_host(home: Home) -> Host:
    """Return the plugins a user has: bundled, installed, one-file ones."""
    user = home.settings()
    return Host(user.plugins, folder=user.plugin_folder, disabled=user.disabled)
