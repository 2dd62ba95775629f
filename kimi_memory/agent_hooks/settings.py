"""Settings of agent programs: where they lie, and how our hooks stand in them."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

from kimi_memory.agent_hooks import agent_protocols
from kimi_memory.errors import FormatError

MARK = "kimi_memory hook run"
"""Stands in every command of ours and in no other."""
# The programs wait for a hook: a turn must not hang where something is wrong with us.
SECONDS = 10
_UNCHANGED = "Mend it; nothing was changed"
_END_SECONDS = 3
"""Codex allows no more at the end of a session, and leaving a note takes far less."""
_BEGIN, _END = "# >>> kimi_memory hook run", "# <<< kimi_memory hook run"

ADVICE = {
    "codex": "Codex runs hooks only once you trust them: open Codex, type /hooks, and approve.",
    "gemini": "Gemini asks once whether it may run the hooks of this file.",
    "copilot": "Copilot runs hooks in folders you trust only.",
    "openclaw": "Restart the gateway. If OpenClaw's own dreaming is on, two programs tidy up: "
    "turn off plugins.entries.memory-core.config.dreaming.enabled.",
    "hermes": "Hermes has one memory provider at a time; 'remove' brings back the one before.",
}
"""What is left to a person after an install."""


def place_of(host: str) -> Path:
    """Return the file that holds a program's hooks."""
    home = Path.home()
    places = {
        "claude": _config_folder("CLAUDE_CONFIG_DIR", home / ".claude") / "settings.json",
        "codex": _config_folder("CODEX_HOME", home / ".codex") / "hooks.json",
        "gemini": home / ".gemini/settings.json",
        "qwen": home / ".qwen/settings.json",
        "kimi": _config_folder("KIMI_CODE_HOME", home / ".kimi-code") / "config.toml",
        "copilot": _config_folder("COPILOT_HOME", home / ".copilot") / "hooks/kimi-memory.json",
    }
    return places[host]


def _config_folder(name: str, default: Path) -> Path:
    return Path(os.environ[name]) if os.environ.get(name) else default


def command(host: str, root: Path) -> str:
    """Return the command a program is to run; it stays the same over upgrades."""
    # The interpreter by its path: hooks run without the environment the person installed us in.
    words = [sys.executable, "-m", *MARK.split(), "--host", host, "--memory", str(root)]
    return " ".join(shlex.quote(word) for word in words)


def install(host: str, text: str, root: Path, place: Path) -> str:
    """Return the settings with our hooks, whatever else is in them kept."""
    if host == "kimi":
        return _add_kimi_block(text, root, place)
    if host == "copilot":
        return dump(_copilot_settings(root))
    document = parse(text, place)
    hooks = _strip_our_hooks(document.get("hooks", {}), place)
    for event, moment in agent_protocols.EVENTS[host].items():
        hooks.setdefault(event, []).append({"hooks": [_hook_entry(host, moment, root)]})
    return dump({**document, "hooks": hooks}, like=text)


def remove(host: str, text: str, place: Path) -> str:
    """Return the settings without our hooks, for a file that somebody changed since."""
    if host == "kimi":
        return _BLOCK.sub("", text)
    if host == "copilot":
        return ""
    document = parse(text, place)
    hooks = _strip_our_hooks(document.get("hooks", {}), place)
    rest = {name: value for name, value in document.items() if name != "hooks"}
    return dump({**rest, "hooks": hooks} if hooks else rest, like=text)


def _hook_entry(host: str, moment: str, root: Path) -> dict[str, Any]:
    seconds = _END_SECONDS if moment == agent_protocols.END else SECONDS
    # Gemini counts milliseconds.
    timeout = seconds * 1000 if host == "gemini" else seconds
    return {"type": "command", "command": command(host, root), "timeout": timeout}


def _strip_our_hooks(hooks: Any, place: Path) -> dict[str, list[Any]]:
    """Return hooks without ours; groups and events that are empty then go too."""
    if not isinstance(hooks, dict) or not all(isinstance(v, list) for v in hooks.values()):
        raise FormatError(str(place), 1, "'hooks' is not what it should be", "Mend it by hand")
    kept = {
        event: [_strip_hook_group(group) for group in groups] for event, groups in hooks.items()
    }
    return {
        event: left
        for event, groups in kept.items()
        # An event that was empty before we came stays, and empty.
        if (left := [group for group in groups if group is not None]) or not hooks[event]
    }


def _strip_hook_group(group: Any) -> Any:
    inner = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(inner, list):
        return group
    left = [one for one in inner if not (isinstance(one, dict) and MARK in str(one.get("command")))]
    if len(left) == len(inner):
        return group
    return {**group, "hooks": left} if left else None


def parse(text: str, place: Path) -> dict[str, Any]:
    """Return the object that settings hold.

    Raises:
        FormatError: they hold none.
    """
    try:
        document = json.loads(text) if text.strip() else {}
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise FormatError(str(place), line, f"not JSON: {error}", _UNCHANGED) from error
    if not isinstance(document, dict):
        raise FormatError(str(place), 1, "not a JSON object", _UNCHANGED)
    return document


_INDENT = re.compile(r"\{\r?\n([ \t]+)")


def dump(document: Any, *, like: str = "") -> str:
    """Return an object as text, with the indentation and the line ends of another text."""
    found = _INDENT.match(like.lstrip())
    ends = "\r\n" if "\r\n" in like else "\n"
    text = json.dumps(document, ensure_ascii=False, indent=found[1] if found else 2) + "\n"
    return text.replace("\n", ends)


def _copilot_settings(root: Path) -> dict[str, Any]:
    line = {"type": "command", "timeoutSec": SECONDS}
    runs = command("copilot", root)
    hooks = {
        event: [{**line, "bash": f"{runs} --event {event}"}]
        for event in agent_protocols.EVENTS["copilot"]
    }
    return {"version": 1, "hooks": hooks}


_BLOCK = re.compile(rf"{re.escape(_BEGIN)}\n.*?{re.escape(_END)}\n", re.DOTALL)


def _add_kimi_block(text: str, root: Path, place: Path) -> str:
    """Return the TOML with a block of ours at its end, where tables may stand."""
    _check_toml(text, place)
    rest = _BLOCK.sub("", text)
    quoted = json.dumps(command("kimi", root), ensure_ascii=False)
    tables = [
        f'[[hooks]]\nevent = "{event}"\ncommand = {quoted}\ntimeout = {SECONDS}\n'
        for event in agent_protocols.EVENTS["kimi"]
    ]
    gap = "" if not rest or rest.endswith("\n") else "\n"
    # As text and not as a parsed document: a person's comments and order must survive.
    result = "\n".join([f"{rest}{gap}{_BEGIN}", *tables, _END, ""])
    _check_toml(result, place)
    return result


def _check_toml(text: str, place: Path) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(str(place), 1, f"not TOML: {error}", _UNCHANGED) from error
