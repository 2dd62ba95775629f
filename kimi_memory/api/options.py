"""How a memory is opened: the user's own directories, clock, plugins, and settings.

A name in a settings file that no setting has is found with the nearest one that exists.
"""

from __future__ import annotations

import contextlib
import difflib
import hmac
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory.config import MARKER, Settings, UserConfig, parse_settings, read_user
from kimi_memory.domain.change import Actor
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.note import Origin
from kimi_memory.domain.user_tables import AGENT_KEYS, ClusterTable, SigningTable
from kimi_memory.errors import HistoryError, KimiMemoryError, UnsafePathError, UsageError
from kimi_memory.formats.toml_lines import find_line
from kimi_memory.hooks.host import Host
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.line_merges import has_marks, split_marks
from kimi_memory.store.files.cache_files import put
from kimi_memory.store.files.locks import claim
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.reading import SETTINGS
from kimi_memory.store.store import Store

_KEY = 32
"""Bytes of a machine's key."""
_KEPT = f"{PRIVATE}/settings"
"""The settings that counted last, sealed: to ask the journal takes as long as it is."""
_TABLES: dict[str, tuple[str, ...]] = {
    name: getattr(table, "_fields", tuple(table)) for name, table in Settings()._asdict().items()
}
_USER = tuple(name for name in UserConfig._fields if name != "plugin_folder")
_LIKE = 0.6
"""Names less alike than this are not taken for a misspelling."""


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

    def signing_key(self) -> Path | None:
        """Return the file of the SSH key that the user signs with; None where they do not."""
        key = self.settings().signing.key
        return Path(key).expanduser() if key else None

    def key(self) -> bytes:
        """Return the machine's key, made at first use.

        It signs indexes and the journal, and marks masked secrets. Where the
        directory cannot be written, a key for this process alone is returned:
        indexes are then rebuilt instead of trusted.
        """
        path, fresh = self.state / "key", b""
        # A home that cannot be written or read must not keep anybody from their memory.
        with contextlib.suppress(OSError):
            if not path.exists():
                fresh = os.urandom(_KEY)
                self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
                # Another process made it meanwhile; its key is read below.
                with contextlib.suppress(FileExistsError):
                    _create_key_file(path, fresh)
            stored = path.read_bytes()
            # A file cut short by a full disk is no key: nothing it signs could be trusted.
            if len(stored) == _KEY:
                return stored
        return fresh or os.urandom(_KEY)

    def keeps(self, key: bytes) -> bool:
        """Whether a key is the machine's, and not of this process alone."""
        # What cannot be read cannot be compared, so the key counts as our own alone.
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
        content = path.read_bytes()
        if not has_marks(MARKER, content):
            return parse_settings(content.decode(), str(path))
        # While git waits for a person, our side holds; it may be a stranger's in a rebase, so it
        # does not say what counts.
        found = parse_settings(split_marks(MARKER, content).ours.decode(), str(path))
        return found._replace(consolidation=found.consolidation._replace(external_edits="review"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Make it readable.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error


def find_confirmed(store: Store) -> tuple[bytes, str]:
    """Return the settings in force, and why those of the file wait; empty if they do not.

    Nothing is returned where no version is known that counted.
    """
    kept = _read_kept(store)
    try:
        content = store.read(SETTINGS)
    except UnsafePathError:
        # It may lead to a file that a stranger's commit brought.
        return kept, "it is a link or no plain file"
    vetting = store.vetting if content != kept else None
    if vetting is None:
        return content, ""
    found = vetting.standing(SETTINGS, content)
    if found.cap is not None:
        return kept or vetting.version(SETTINGS, found.vetted) or b"", found.why
    with contextlib.suppress(HistoryError):  # Without it, the journal is asked again.
        put(store.root / _KEPT, store.journal.sign(content) + b"\n" + content)
    return content, ""


def _read_kept(store: Store) -> bytes:
    try:
        mark, _, content = store.read(_KEPT).partition(b"\n")
    except KimiMemoryError:
        return b""
    # A version that came with the folder of a stranger counts for nothing.
    return content if hmac.compare_digest(mark, store.journal.sign(content)) else b""


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


def unknown_settings(root: Path, home: Home, host: Host) -> list[Finding]:
    """Name what stands in ``memory.toml`` and in the user's ``config.toml`` without effect.

    Args:
        root: the memory folder.
        home: the user's own directories.
        host: the plugins that were made with the user's settings.
    """
    return [*_in_memory(root / MARKER), *_in_user(home.config / "config.toml", host)]


def _in_memory(path: Path) -> Iterator[Finding]:
    text, document = _read_settings(path)
    for name, value in document.items():
        if name not in _TABLES:
            # A right name above the first table is the slip that is made most often in TOML.
            elsewhere = [f"[{table}] {name}" for table, keys in _TABLES.items() if name in keys]
            near = elsewhere or [f"[{one}]" for one in _find_nearest(name, _TABLES)]
            yield _build_finding(path, find_line(text, name), _format_name(name, value), near)
        elif isinstance(value, Mapping):
            for key in value:
                if key not in _TABLES[name]:
                    at = find_line(text, key, below=name)
                    yield _build_finding(path, at, f"[{name}] {key}", _near_key(name, key))


def _near_key(table: str, key: str) -> list[str]:
    if near := _find_nearest(key, _TABLES[table]):
        return near
    return [f"[{other}] {key}" for other, keys in _TABLES.items() if key in keys]


def _in_user(path: Path, host: Host) -> Iterator[Finding]:
    text, document = _read_settings(path)
    for name, value in document.items():
        if name not in _USER:
            near = [f"[plugins.{name}]"] if name in host.names else _find_nearest(name, _USER)
            yield _build_finding(path, find_line(text, name), _format_name(name, value), near)
    yield from _in_user_tables(path, text, document)
    for name in document.get("disabled", ()):
        if name not in host.names:
            near = _find_nearest(name, host.names)
            yield _build_finding(path, find_line(text, "disabled"), f"disabled plugin {name}", near)
    for plugin, key, fitting in host.unknown_settings():
        said = f"[plugins.{plugin}] {key}".strip()
        near = _find_nearest(key or plugin, fitting)
        if not key:
            near = [f"[plugins.{one}]" for one in near]
        at = (
            find_line(text, key, below=f"plugins.{plugin}")
            if key
            else find_line(text, f"plugins.{plugin}")
        )
        yield _build_finding(path, at, said, near)


def _in_user_tables(path: Path, text: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    known = {"signing": SigningTable._fields, "cluster": ClusterTable._fields}
    agents = document.get("agents", {})
    tables = {name: document.get(name, {}) for name in known}
    tables |= {f"agents.{name}": table for name, table in agents.items()}
    for table, values in tables.items():
        fitting = known.get(table, AGENT_KEYS)
        for key in sorted({*values}.difference(fitting)):
            near = _find_nearest(key, fitting)
            yield _build_finding(path, find_line(text, key, below=table), f"[{table}] {key}", near)


def _build_finding(path: Path, line: int, name: str, near: Sequence[str]) -> Finding:
    remedy = f"Did you mean {near[0]}?" if near else "See docs/settings.md for those there are."
    message = f"{path.name}:{line}: {name} is no setting of this version, so it has no effect"
    return Finding("settings", Severity.WARNING, message, remedy, str(path))


def _find_nearest(name: str, known: Sequence[str] | Mapping[str, object]) -> list[str]:
    return difflib.get_close_matches(name, list(known), n=1, cutoff=_LIKE)


def _format_name(name: str, value: object) -> str:
    return f"[{name}]" if isinstance(value, Mapping) else name


def _read_settings(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a settings file; nothing where there is none, others say what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return "", {}
