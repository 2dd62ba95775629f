"""Places: the files of an agent program that an installation changes, and how it stands in each."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from kimi_memory.agent_hooks import settings
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.lazy_dataclass import dataclass

PLUGIN = "kimi-memory"
_PROVIDER = "kimi_memory"
SKILLS = "agents"
"""Stands for the folder of skills that many programs read, as if it were one of them."""
OURS = (PLUGIN, _PROVIDER)
"""Names of the folders that hold nothing but a plugin of ours."""
_HOOK = ["hook", "run", "--host"]


@dataclass(frozen=True, slots=True)
class Place:
    """One file."""

    path: Path
    mark: str
    """Stands in it while we are installed."""
    install: Callable[[str], str]
    """Returns its text with ours."""
    remove: Callable[[str], str]
    """Returns its text without ours, empty where nothing is left."""
    ours: bool = False
    """Whether the whole file is ours, and its folder with it."""


def places_of(host: str, root: Path, *, slot: bool = False) -> list[Place]:
    """Return the files that give a program this memory.

    Args:
        host: the program.
        root: the memory.
        slot: take the place of the program's own memory, where it has such a place.

    Raises:
        UsageError: the memory's path cannot stand in a command.
    """
    # Commands stand in lines of shell, JSON, TOML and YAML; a line break cannot be quoted in all.
    if "\n" in str(root):
        raise UsageError(f"{str(root)!r} holds a line break. Rename the folder.")
    plugins = {"opencode": _opencode_files, "hermes": _hermes_files, SKILLS: _skill_files}
    if host == "openclaw":
        return _openclaw_files(root, slot=slot)
    if slot:
        raise UsageError(f"{host} has no slot for a memory. Only OpenClaw has one.")
    return plugins[host](root) if host in plugins else [_settings_file(host, root)]


def _settings_file(host: str, root: Path) -> Place:
    path = settings.place_of(host)
    return Place(
        path,
        settings.MARK,
        lambda text: settings.install(host, text, root, path),
        lambda text: settings.remove(host, text, path),
    )


def _opencode_files(root: Path) -> list[Place]:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    folder = Path(os.environ.get("OPENCODE_CONFIG_DIR") or Path(base) / "opencode")
    argv = [*_python_command(), *_HOOK, "opencode", "--memory", str(root)]
    content = _fill_template("opencode/kimi-memory.js", COMMAND=argv)
    return [_plugin_file(folder / "plugin/kimi-memory.js", content)]


def _hermes_files(root: Path) -> list[Place]:
    # Each program lets its folder be moved by a variable of its own; ours must follow it.
    home = Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes")
    folder, config = home / "plugins" / _PROVIDER, home / "config.yaml"
    argv = [*_python_command(), *_HOOK, "hermes", "--memory", str(root)]
    return [
        _plugin_file(folder / "__init__.py", _fill_template("hermes/__init__.py", COMMAND=argv)),
        _plugin_file(folder / "plugin.yaml", _fill_template("hermes/plugin.yaml")),
        Place(config, _PROVIDER, partial(_set_provider, place=config), _remove_provider),
    ]


def _skill_files(_: Path) -> list[Place]:
    folder = Path.home() / ".agents/skills" / PLUGIN
    return [_plugin_file(folder / "SKILL.md", _fill_template(f"plugin/skills/{PLUGIN}/SKILL.md"))]


def _openclaw_files(root: Path, *, slot: bool) -> list[Place]:
    home = Path(os.environ.get("OPENCLAW_STATE_DIR") or Path.home() / ".openclaw")
    config = Path(os.environ.get("OPENCLAW_CONFIG_PATH") or home / "openclaw.json")
    folder = home / "extensions" / PLUGIN
    code = _fill_template(
        "openclaw/index.js", COMMAND=_python_command(), MEMORY=["--memory", str(root)]
    )
    manifest = _fill_template("openclaw/openclaw.plugin.json")
    return [
        _plugin_file(folder / "index.js", code),
        _plugin_file(folder / "package.json", _fill_template("openclaw/package.json")),
        _plugin_file(
            folder / "openclaw.plugin.json", _claim_memory_slot(manifest) if slot else manifest
        ),
        Place(
            config,
            PLUGIN,
            partial(_enable_plugin, place=config, slot=slot),
            partial(_disable_plugin, place=config),
        ),
    ]


def _plugin_file(path: Path, content: str) -> Place:
    return Place(path, PLUGIN, lambda _: content, lambda _: "", ours=True)


def _python_command() -> list[str]:
    return [sys.executable, "-m", "kimi_memory"]


def _fill_template(name: str, **values: list[str]) -> str:
    """Return a file of a package, with the commands it is to run."""
    text = files("kimi_memory.integrations").joinpath(name).read_text(encoding="utf-8")
    for variable, value in values.items():
        line = re.compile(rf"^((?:const )?{variable} = ).*?(;?)$", re.MULTILINE)
        # Not as the template of a replacement: paths may hold backslashes.
        if found := line.search(text):
            said = json.dumps(value, ensure_ascii=False)
            text = f"{text[: found.start()]}{found[1]}{said}{found[2]}{text[found.end() :]}"
    return text


def _claim_memory_slot(manifest: str) -> str:
    """Return the manifest of a plugin that takes the slot of memory."""
    tools = {"contracts": {"tools": ["memory_search", "memory_get"]}}
    return settings.dump({**json.loads(manifest), "kind": "memory", **tools})


def _enable_plugin(text: str, *, place: Path, slot: bool) -> str:
    document = settings.parse(text, place)
    plugins = _get_mapping(document, "plugins", place)
    entries = _get_mapping(plugins, "entries", place)
    entry: dict[str, Any] = {"enabled": True, "hooks": {"allowConversationAccess": True}}
    if slot:
        # With its own dreaming on, OpenClaw loads its memory beside ours and asks that one.
        entry["config"] = {"slot": True, "dreaming": {"enabled": False}}
        plugins["slots"] = {**_get_mapping(plugins, "slots", place), "memory": PLUGIN}
    # Only where a list is there: to make one would switch off every plugin that is not in it.
    if isinstance(plugins.get("allow"), list) and PLUGIN not in plugins["allow"]:
        plugins["allow"] = [*plugins["allow"], PLUGIN]
    plugins["entries"] = {**entries, PLUGIN: entry}
    return settings.dump({**document, "plugins": plugins}, like=text)


def _disable_plugin(text: str, *, place: Path) -> str:
    document = settings.parse(text, place)
    plugins = _get_mapping(document, "plugins", place)
    for name in ("entries", "slots"):
        inner = _get_mapping(plugins, name, place)
        left = {key: value for key, value in inner.items() if PLUGIN not in (key, value)}
        plugins = _set_or_drop_key(plugins, name, left)
    if isinstance(plugins.get("allow"), list):
        plugins["allow"] = [one for one in plugins["allow"] if one != PLUGIN]
    return settings.dump(_set_or_drop_key(document, "plugins", plugins), like=text)


def _set_or_drop_key(
    outer: Mapping[str, Any], name: str, inner: Mapping[str, Any]
) -> dict[str, Any]:
    rest = {key: value for key, value in outer.items() if key != name}
    return {**rest, name: inner} if inner else rest


def _get_mapping(outer: Mapping[str, Any], name: str, place: Path) -> dict[str, Any]:
    found = outer.get(name, {})
    if not isinstance(found, dict):
        raise FormatError(str(place), 1, f"{name!r} is not what it should be", "Mend it by hand")
    return dict(found)


_MEMORY = re.compile(r"^memory:[ \t]*(?P<value>[^#\n]*)(?:#.*)?$", re.MULTILINE)
_BLOCK = re.compile(r"(?:\n(?:[ \t#][^\n]*)?)*")
_LINE = f"provider: {_PROVIDER}"


def _set_provider(text: str, *, place: Path) -> str:
    """Return YAML in which the memory's provider is ours; every other line stays as it is."""
    found = _MEMORY.search(text)
    if found is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}memory:\n  {_LINE}\n"
    if found["value"].strip():
        line = text.count("\n", 0, found.start()) + 1
        raise FormatError(str(place), line, "'memory' is written in one line", f"Say {_LINE} there")
    head, rest = text[: found.end()], text[found.end() :]
    block = _BLOCK.match(rest)
    inside = block[0] if block else ""
    first = re.search(r"^[ \t]+(?=[^\s#])", inside, re.MULTILINE)
    # As the file itself indents; two depths in one block would not be YAML.
    indent = first[0] if first else "  "
    chosen = re.compile(rf"^{indent}provider:[ \t]*(?P<value>[^#\s]*)", re.MULTILINE)
    if choice := chosen.search(inside):
        at, end = (len(head) + edge for edge in choice.span("value"))
        return f"{text[:at]}{_PROVIDER}{text[end:]}"
    return f"{head}\n{indent}{_LINE}{rest or chr(10)}"


def _remove_provider(text: str) -> str:
    """Return YAML without our provider, and without an empty ``memory`` that this leaves."""
    left = re.sub(rf"^[ \t]+{_LINE}[ \t]*(?:#.*)?\n", "", text, count=1, flags=re.MULTILINE)
    # A `memory:` that still has members, comments between them aside, stays.
    inner = r"(?:[ \t]*(?:#.*)?\n)*[ \t]+[^\s#]"
    return re.sub(rf"^memory:[ \t]*\n(?!{inner})", "", left, count=1, flags=re.MULTILINE)
