"""Agent programs that use a memory: what they and their own tools say of it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kimi_memory.agent_hooks import agent_protocols, user_files
from kimi_memory.agent_hooks.agent_files import Place, places_of
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.errors import KimiMemoryError

# The three lines with which Codex's own server is asked for its hooks.
_ASKED = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "kimi", "version": "1"}}},
    {"method": "initialized"},
    {"id": 2, "method": "hooks/list", "params": {"cwds": ["/"]}},
)


def check_hosts(root: Path) -> Iterator[Finding]:
    """Yield what is wrong, and what is right, with every program that uses this memory."""
    for host in agent_protocols.EVENTS:
        try:
            places = places_of(host, root)
            if any(_mentions_memory(place, root) for place in places):
                yield _check_host(host, places, root)
        except (KimiMemoryError, OSError, ValueError) as error:
            yield _make_warning(host, f"cannot be looked at: {error}", "")


def list_hosts(root: Path) -> dict[str, bool]:
    """Return the programs that a memory knows hooks for, and which of them have ours for it.

    Files alone are read; `check_hosts` asks the programs as well.
    """
    found = {}
    for host in agent_protocols.EVENTS:
        # A settings file that we cannot read is for its program to complain about.
        with suppress(KimiMemoryError, OSError, ValueError):
            found[host] = any(_mentions_memory(place, root) for place in places_of(host, root))
    return found


def _check_host(host: str, places: list[Place], root: Path) -> Finding:
    again = f"Run 'kimi-memory hook install --host {host} --memory {shlex.quote(str(root))}'."
    for place in places:
        if not place.path.is_file() or place.mark not in _read_text(place.path):
            return _make_warning(host, f"half of it is gone: {place.path}", again)
    # A virtual environment that was moved or deleted: the hooks would fail without a word.
    if gone := [path for path in _yield_interpreters(places) if not Path(path).exists()]:
        return _make_warning(host, f"it runs {gone[0]}, which is gone", again)
    complaint, remedy = _OWN[host]() if host in _OWN and user_files.has(host) else ("", "")
    if complaint:
        return _make_warning(host, complaint, remedy)
    asked = f", and says {host} itself" if host in _OWN and user_files.has(host) else ""
    return Finding(f"host {host}", Severity.OK, f"uses this memory{asked}")


def _make_warning(host: str, message: str, remedy: str) -> Finding:
    return Finding(f"host {host}", Severity.WARNING, message, remedy)


def _mentions_memory(place: Place, root: Path) -> bool:
    text = _read_text(place.path) if place.path.is_file() else ""
    # A path stands there as the shell has it, or as JSON has it, with hanzi escaped or not.
    said = (str(root), json.dumps(str(root)), json.dumps(str(root), ensure_ascii=False))
    return place.mark in text and any(one.strip('"') in text for one in said)


def _read_text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


_RUNS = re.compile(
    r"""(?:'(/[^']+)'|"(/[^"]+)",|(/[^\s"']{1,400}))\s{1,9}"?-m"?,?\s{1,9}"?kimi_memory"""
)


def _yield_interpreters(places: list[Place]) -> Iterator[str]:
    """Yield the Python that the hooks run, as it stands in the files."""
    for place in places:
        for found in _RUNS.finditer(_read_text(place.path)):
            yield found[1] or found[2] or found[3]


def _check_codex() -> tuple[str, str]:
    """Ask Codex whether it trusts our hooks; untrusted ones are left out without a word."""
    lines = "".join(json.dumps(one) + "\n" for one in _ASKED)
    out = user_files.converse(["codex", "app-server"], lines, '"id":2')
    answers = (json.loads(line) for line in out.splitlines() if line.startswith("{"))
    found: list[Any] = next((a["result"]["data"] for a in answers if a.get("id") == 2), [])
    ours = [h for one in found for h in one["hooks"] if "hook run --host codex" in h["command"]]
    if not ours:
        return "codex does not see the hooks", "Look at 'codex doctor'."
    if any(hook["trustStatus"] not in ("trusted", "managed") for hook in ours):
        return "codex does not trust the hooks, and leaves them out", "Type /hooks in codex."
    return "", ""


def _check_openclaw() -> tuple[str, str]:
    code, out, told = user_files.call(["openclaw", "config", "validate"])
    return (f"openclaw: {(told or out).strip()[-200:]}", "Mend its config.") if code else ("", "")


def _check_hermes() -> tuple[str, str]:
    _, out, _ = user_files.call(["hermes", "memory", "status"])
    chosen = any("Provider:" in line and "kimi_memory" in line for line in out.splitlines())
    return ("", "") if chosen else ("hermes uses another provider", "Run 'hermes memory status'.")


_OWN: dict[str, Callable[[], tuple[str, str]]] = {
    "codex": _check_codex,
    "openclaw": _check_openclaw,
    "hermes": _check_hermes,
}
"""What programs' own tools complain of, and what helps; empty where they are content."""
