"""``config``: show and change settings, of the memory and of its user."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from kimi_memory.agent_hooks.user_files import diff, put, text_at
from kimi_memory.api.options import Home
from kimi_memory.cli.keys import edit_text
from kimi_memory.cli.shared import (
    count_columns,
    locate_settings,
    open_memory,
    pad,
    paint,
    say,
    show,
    show_diff,
    show_json,
    show_result,
)
from kimi_memory.config import MARKER, Settings
from kimi_memory.errors import NotAMemoryError, UsageError
from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.operations.setting_list import (
    USER_FILE,
    Setting,
    change_memory,
    check_user,
    file_of,
    find_setting,
    list_settings,
    set_value,
    write_value,
)

_NAME_HELP = "table and key, such as recall.limit; 'config list' has all"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    lists = steps.add_parser("list", help="show every setting, its file and what it means")
    lists.add_argument("table", nargs="?", default="", help="only this table, such as recall")
    lists.add_argument("--changed", action="store_true", help="only what is not the default")
    get = steps.add_parser("get", help="print the value of a setting")
    get.add_argument("name", help=_NAME_HELP)
    set = steps.add_parser("set", help="give a setting another value, after a check")
    set.add_argument("name", help=_NAME_HELP)
    set.add_argument("value", help="a word, a number, true or false; a list as TOML writes it")
    set.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")
    edit = steps.add_parser("edit", help="open a settings file in your editor, and check it")
    edit.add_argument(
        "--user", action="store_true", help="your own file, which chooses hosts, keys and plugins"
    )


def run(arguments: Namespace) -> int:
    """Do one step."""
    steps = {"list": _list, "get": _get, "set": _set, "edit": _edit}
    return steps[arguments.step](arguments)


def _known(arguments: Namespace) -> list[Setting]:
    """Return the settings that count; without a memory those of the user."""
    settings: Settings | None
    try:
        settings = locate_settings(arguments)[1]
    except NotAMemoryError:
        settings = None
    return list_settings(settings, Home.of_user().settings())


def _list(arguments: Namespace) -> int:
    table = arguments.table
    found = [one for one in _known(arguments) if not table or one.name.startswith(f"{table}.")]
    if table and not found:
        raise UsageError(f"There is no table {table!r}. 'kimi-memory config list' has all.")
    if arguments.changed:
        found = [one for one in found if one.value != one.default]
    if arguments.json:
        show_json([one._asdict() for one in found])
        return 0
    widest = max((count_columns(one.name) for one in found), default=0)
    file = ""
    for one in found:
        if one.file != file:
            file = one.file
            print(paint(file, "bold"))
        value = printable(_write(one.value))
        value = value if one.value == one.default else paint(value, "green")
        print(f"  {pad(printable(one.name), widest)}  {value}")
        if one.meaning:
            show(f"      {' '.join(one.meaning.split())}")
    return 0


def _write(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_write, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _get(arguments: Namespace) -> int:
    one = find_setting(arguments.name, _known(arguments))
    shown = one.value if isinstance(one.value, str) else _write(one.value)
    return show_result(arguments, one._asdict(), [shown])


def _set(arguments: Namespace) -> int:
    one = find_setting(arguments.name, _known(arguments))
    value = write_value(one, arguments.value)
    if file_of(one.name) == MARKER:
        return _change_memory(arguments, lambda before: set_value(before, one.name, value))
    return _change_user(arguments, lambda before: set_value(before, one.name, value))


def _edit(arguments: Namespace) -> int:
    if not sys.stdin.isatty():
        raise UsageError("There is no terminal for an editor. Use 'kimi-memory config set'.")
    change = _change_user if arguments.user else _change_memory
    return change(arguments, lambda before: edit_text(before.rstrip("\n"), ".toml") + "\n")


def _change_memory(arguments: Namespace, change: Callable[[str], str]) -> int:
    with open_memory(arguments) as memory:
        before = memory.store.read(MARKER).decode()
        after = change(before)
        change_memory(memory, after, dry_run=_is_dry(arguments))
    return _finish(arguments, before, after, str(memory.root / MARKER))


def _change_user(arguments: Namespace, change: Callable[[str], str]) -> int:
    folder = Home.of_user().config
    before = text_at(folder / USER_FILE)
    after = change(before)
    check_user(after, folder)
    if not _is_dry(arguments) and after != before:
        put(folder / USER_FILE, after)
    return _finish(arguments, before, after, str(folder / USER_FILE))


def _is_dry(arguments: Namespace) -> bool:
    return bool(getattr(arguments, "dry_run", False))


def _finish(arguments: Namespace, before: str, after: str, path: str) -> int:
    """Print what changed."""
    changed = diff(before, after, path)
    if arguments.json:
        show_json({"file": path, "changed": bool(changed), "diff": changed})
    elif changed:
        show_diff(changed, whole=True)
    else:
        show(say("No difference."))
    return 0
