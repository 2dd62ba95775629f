"""Every setting with its value, its meaning and its file; and settings files with a changed one.

A name says by itself in which file it stands: what chooses hosts, keys or plugins has no
place in a memory, which may come from somebody else.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER, Settings, UserConfig, parse_settings, parse_user
from kimi_memory.domain.job import Update, digest
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.merge.settings import set_entries

USER_FILE = "config.toml"
_MADE = {"memory.id": "init", "memory.format": "init", "memory.parent": "fork",
         "memory.moved": "migrate"}  # fmt: skip
"""Settings that only a command writes."""
_SIMPLE = ("server", "sync", "disabled")
_PLAIN_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# As for settings in files: names less alike are no misspelling.
_LIKE = 0.6


class Setting(NamedTuple):
    """A setting as it is."""

    name: str
    """Table and key: ``recall.limit``."""
    value: object
    default: object
    kind: str
    """Its type, as a reader of TOML sees it."""
    meaning: str
    file: str
    """``memory.toml`` or ``config.toml``."""


def read_meanings(kind: type) -> dict[str, tuple[str, str]]:
    """Return type and meaning of each field of a class; the meaning is the string under it."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, tuple[str, str]] = {}
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = inspect.cleandoc(str(after.value.value)).replace("``", "`")
            found[ast.unparse(node.target)] = (_spell(ast.unparse(node.annotation)), text)
    return found


def _spell(annotation: str) -> str:
    """Return a type as a reader of TOML sees it: a closed set is its values."""
    if not annotation.startswith("Literal["):
        return annotation
    return " | ".join(f'"{value}"' for value in re.findall(r"'([^']+)'", annotation))


def list_settings(settings: Settings | None, user: UserConfig) -> list[Setting]:
    """Return every setting in the order of the files; without a memory those of the user."""
    found = [] if settings is None else list(_of_memory(settings))
    return [*found, *_of_user(user)]


def _of_memory(settings: Settings) -> Iterator[Setting]:
    defaults = Settings()
    for table, given in settings._asdict().items():
        plain = getattr(defaults, table)
        if isinstance(given, Mapping):
            for key, value in given.items():
                yield Setting(f"{table}.{key}", value, plain.get(key, ""), "str",
                              "When this job runs; never if empty.", MARKER)  # fmt: skip
            continue
        yield from _of_table(f"{table}.", given, plain, given._fields, MARKER)


def _of_table(
    start: str, given: Any, plain: Any, keys: Sequence[str], file: str
) -> Iterator[Setting]:
    """Yield the settings of some keys; in `plain` each has its default."""
    about = read_meanings(type(given))
    for key in keys:
        kind, meaning = about[key]
        default = getattr(plain, key)
        yield Setting(f"{start}{key}", getattr(given, key), default, kind, meaning, file)


def _of_user(user: UserConfig) -> Iterator[Setting]:
    plain, signing = UserConfig(), user.signing
    yield from _of_table("", user, plain, _SIMPLE, USER_FILE)
    yield from _of_table("signing.", signing, plain.signing, signing._fields, USER_FILE)
    for plugin, given in user.plugins.items():
        for key, value in given.items():
            yield Setting(f"plugins.{plugin}.{key}", value, None, "any",
                          f"A setting of the plugin {plugin}.", USER_FILE)  # fmt: skip


def file_of(name: str) -> str:
    """Return in which file a setting of a name stands."""
    table = name.partition(".")[0]
    return MARKER if table in Settings._fields else USER_FILE


def find_setting(name: str, known: list[Setting]) -> Setting:
    """Return the setting of a name.

    Raises:
        UsageError: there is none; the nearest one is named.
    """
    by_name = {one.name: one for one in known}
    if name in by_name:
        return by_name[name]
    # A setting of a plugin need not be given yet; whether it exists, the plugin says.
    if name.startswith("plugins.") and name.count(".") > 1:
        return Setting(name, None, None, "any", "", USER_FILE)
    same = [one for one in by_name if one.rpartition(".")[2] == name]
    near = same or difflib.get_close_matches(name, by_name, n=1, cutoff=_LIKE)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"There is no setting {name!r}.{meant} 'kimi-memory config list' has all.")


def write_value(one: Setting, text: str) -> str:
    """Return a value that a person typed as TOML writes it.

    Raises:
        UsageError: the setting is one that only a command writes, or takes no such value.
    """
    if one.name in _MADE:
        raise UsageError(f"{one.name} is written by '{_MADE[one.name]}' alone. Leave it.")
    if one.kind == "bool" and text.lower() in _WORDS:
        return json.dumps(_WORDS[text.lower()])
    if one.kind == "str" or one.kind.startswith('"'):
        return json.dumps(text, ensure_ascii=False)
    try:
        if (given := tomllib.loads(f"x = {text}")["x"]) != given:
            raise tomllib.TOMLDecodeError("nan is no number")
    except tomllib.TOMLDecodeError as error:
        if one.kind == "any":
            return json.dumps(text, ensure_ascii=False)
        wanted = _PLAIN_KINDS.get(one.kind, one.kind)
        raise UsageError(f"{text!r} is no value of {one.name}. Give {wanted}.") from error
    return text


def set_value(text: str, name: str, value: str) -> str:
    """Return a settings file with another value of a setting, all else as it was.

    Raises:
        UsageError: the file has that setting in a form that is changed by hand alone.
    """
    table, _, key = name.rpartition(".")
    changed = set_entries(text, {(table, key): value})
    try:
        if tomllib.loads(changed) == _merge(tomllib.loads(text), name, value):
            return changed
    except tomllib.TOMLDecodeError:
        # The lines were laid out in a way that we cannot patch; the error says so.
        pass
    raise UsageError(f"{name} stands there on several lines. Use 'kimi-memory config edit'.")


def _merge(document: dict[str, Any], name: str, value: str) -> dict[str, Any]:
    *tables, key = name.split(".")
    at = document
    for table in tables:
        at = at.setdefault(table, {})
    at[key] = tomllib.loads(f"x = {value}")["x"]
    return document


def change_memory(memory: Memory, text: str, *, dry_run: bool = False) -> None:
    """Give a memory other settings; with `dry_run`, only look whether they are some.

    Raises:
        FormatError: they are none; nothing was changed.
        UsageError: they hold a secret.
    """
    before = memory.store.read(MARKER)
    parse_settings(text, str(memory.root / MARKER))
    known = set(before.decode("utf-8", "replace").splitlines())
    if any(memory.is_secret(line) for line in text.splitlines() if line not in known):
        raise UsageError("The text holds a secret, which git would keep. Keys belong elsewhere.")
    if dry_run or text.encode() == before:
        return
    memory.store.apply([Update(MARKER, digest(before), text.encode())], memory.actor)
    memory.written()
    memory.batch.flush("Settings")


def check_user(text: str, folder: Path) -> None:
    """Refuse settings of the user that no version or plugin of theirs knows.

    Raises:
        FormatError: a value is of the wrong type.
        UsageError: a plugin has no such setting.
    """
    user = parse_user(text, folder)
    host = Host(user.plugins, folder=user.plugin_folder, disabled=user.disabled)
    for plugin, key, fitting in host.unknown_settings():
        near = difflib.get_close_matches(key or plugin, fitting, n=1, cutoff=_LIKE)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        what = f"The plugin {plugin} has no setting {key!r}" if key else f"No plugin {plugin!r}"
        raise UsageError(f"{what}.{meant} See docs/settings.md.")
