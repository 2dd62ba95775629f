"""Names in settings files that no setting has, each with the nearest one that exists."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kimi_memory.api.user_dirs import Home
from kimi_memory.config import MARKER, Settings, UserConfig
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.hooks.host import Host

_TABLES: dict[str, tuple[str, ...]] = {
    name: getattr(table, "_fields", tuple(table)) for name, table in Settings()._asdict().items()
}
_USER = tuple(name for name in UserConfig._fields if name != "plugin_folder")
_LIKE = 0.6
"""Names less alike than this are not taken for a misspelling."""


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
            yield _build_finding(path, _find_line(text, name), _format_name(name, value), near)
        elif isinstance(value, Mapping):
            for key in value:
                if key not in _TABLES[name]:
                    at = _find_line(text, key, below=name)
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
            yield _build_finding(path, _find_line(text, name), _format_name(name, value), near)
    for name in document.get("disabled", ()):
        if name not in host.names:
            near = _find_nearest(name, host.names)
            yield _build_finding(
                path, _find_line(text, "disabled"), f"disabled plugin {name}", near
            )
    for plugin, key, fitting in host.unknown_settings():
        said = f"[plugins.{plugin}] {key}".strip()
        near = _find_nearest(key or plugin, fitting)
        if not key:
            near = [f"[plugins.{one}]" for one in near]
        at = (
            _find_line(text, key, below=f"plugins.{plugin}")
            if key
            else _find_line(text, f"plugins.{plugin}")
        )
        yield _build_finding(path, at, said, near)


def _build_finding(path: Path, line: int, name: str, near: Sequence[str]) -> Finding:
    remedy = f"Did you mean {near[0]}?" if near else "See docs/settings.md for those there are."
    message = f"{path.name}:{line}: {name} is no setting of this version, so it has no effect"
    return Finding("settings", Severity.WARNING, message, remedy, str(path))


def _find_nearest(name: str, known: Sequence[str] | Mapping[str, object]) -> list[str]:
    return difflib.get_close_matches(name, list(known), n=1, cutoff=_LIKE)


def _format_name(name: str, value: object) -> str:
    return f"[{name}]" if isinstance(value, Mapping) else name


def _find_line(text: str, name: str, below: str = "") -> int:
    """Return the line of a table's head, or of a key in it; 1 where it is spelled otherwise."""
    lines, inside = text.splitlines(), not below
    for number, line in enumerate(lines, 1):
        if head := re.match(r"\s*\[+\s*([^\]]*?)\s*\]+", line):
            if not below and head[1] == name:
                return number
            inside = head[1] == below if below else False
        elif inside and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[.=]", line):
            return number
    return 1


def _read_settings(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a settings file; nothing where there is none, others say what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return "", {}
