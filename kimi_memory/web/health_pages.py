"""The page of health: checks, index, agent programs, schedule, plugins, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from kimi_memory.agent_hooks.checkup import check_hosts, list_hosts
from kimi_memory.api.memory import Memory
from kimi_memory.config import Settings
from kimi_memory.errors import UsageError
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.operations.doctor import doctor, fix
from kimi_memory.operations.sealed_folders import find_sealed
from kimi_memory.web.page_types import Asked, View
from kimi_memory.web.schedule import list_schedule

MASKED = "••••"
_SECRET = regex(r"(?i)key|secret|token|pass|auth|header|credential")


class Setting(NamedTuple):
    """One setting and its value."""

    name: str
    value: str
    chosen: bool
    """Whether it is another than the default."""


def show_health(memory: Memory, asked: Asked) -> View:
    """Show the state of a memory; run every check where that is asked for."""
    return _health(memory, checked=bool(asked.get("check")), mended=())


def mend(memory: Memory, asked: Asked) -> View:
    """Mend what can be mended, and check again."""
    if asked.get("do") != "fix":
        raise UsageError("Say 'fix'. Nothing was changed.")
    return _health(memory, checked=True, mended=tuple(fix(memory, doctor(memory))))


def _health(memory: Memory, *, checked: bool, mended: tuple[str, ...]) -> View:
    findings = [*doctor(memory), *check_hosts(memory.root)] if checked else []
    values = {
        "checked": checked,
        "findings": [one for one in findings if one.severity != "ok"],
        "fixable": any(one.fixable for one in findings),
        "mended": mended,
        "index": memory.index.status(),
        "commits": memory.history.log(limit=1) if memory.history.ready() else [],
        "hosts": list_hosts(memory.root),
        "sealed": find_sealed(memory.root),
        "schedule": [*list_schedule(memory)],
        "plugins": memory.host.loaded,
        "settings": {name: [*_settings(name, memory.settings)] for name in Settings._fields},
        "own": [*_user_settings(memory)],
        "root": str(memory.root),
        "read_only": memory.store.read_only,
    }
    return View("health", "health", values)


def _settings(name: str, settings: Settings) -> Iterator[Setting]:
    table, plain = getattr(settings, name), getattr(Settings(), name)
    values = dict(table) if isinstance(table, Mapping) else table._asdict()
    usual = dict(plain) if isinstance(plain, Mapping) else plain._asdict()
    for key, value in values.items():
        yield Setting(key, _mask(key, value), value != usual.get(key))


def _user_settings(memory: Memory) -> Iterator[Setting]:
    """Yield the person's own settings, which choose hosts and keys; they are changed nowhere here.

    Keys are masked: a picture of this page must give nothing away.
    """
    for plugin, table in sorted(memory.home.settings().plugins.items()):
        for key, value in sorted(table.items()):
            yield Setting(f"plugins.{plugin}.{key}", _mask(key, value), chosen=True)


def _mask(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_mask(str(key), one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_mask(name, one) for one in value)
    text = "" if value is None else str(value)
    # A number is a limit such as 'context_tokens', and no key.
    if isinstance(value, str) and text and _SECRET.search(name):
        return MASKED
    return _mask_address(text) if "://" in text else text


def _mask_address(text: str) -> str:
    """Return an address without the name and password, or the query, that may stand in it."""
    try:
        parts = urlsplit(text)
    except ValueError:
        # What cannot be taken apart might hold a password anywhere.
        return MASKED
    host = parts.netloc.rpartition("@")
    bare = parts._replace(netloc=f"{MASKED}@{host[2]}" if host[1] else host[2])
    return bare._replace(query=MASKED if parts.query else "").geturl()
