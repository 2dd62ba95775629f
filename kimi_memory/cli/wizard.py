"""What ``init`` asks on a terminal; every answer is an option of it as well."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from kimi_memory.agent_hooks.settings import place_of
from kimi_memory.cli.keys import can_walk
from kimi_memory.cli.shared import find_locale, paint, say, show
from kimi_memory.config import MARKER, parse_settings
from kimi_memory.errors import FormatError
from kimi_memory.nlp.basic.safe_text import printable

AGENTS = ("claude", "codex", "gemini", "qwen", "kimi", "copilot")
"""Programs whose folder says that they are there."""
_STORES = (".memex/cards", ".claude/projects/*/memory")
"""Where other systems keep memories, below the home directory."""
_NOWHERE = frozenset({"", "UTC", "UCT", "Zulu", "Universal", "Greenwich", "GMT", "localtime"})
_YES, _NO = ("y", "yes", "是", "好"), ("n", "no", "否", "不")
Run = Callable[[Sequence[str]], int]
"""Runs a command line."""


def asks(arguments: Namespace, folder: Path) -> bool:
    """Whether a person is there to answer, and a memory to be made."""
    return can_walk() and not (arguments.yes or arguments.json or (folder / MARKER).is_file())


def ask_before(arguments: Namespace, folder: Path) -> None:
    """Ask for what a memory begins with: its name, its language, its time zone."""
    show(say("Enter takes what stands in brackets; Ctrl-C ends it."))
    arguments.name = arguments.name or _ask(say("Name"), folder.resolve().name)
    if arguments.language == "auto":
        near = "zh" if find_locale().startswith("zh") else "en"
        choices = {"zh": "zh", "en": "en", "中文": "zh", "english": "en"}
        arguments.language = _choose(say("Language of its pages, zh or en"), near, choices)
    default = machine_zone() or say("that of this machine")
    while not arguments.timezone:
        zone = _ask(say("Time zone, such as Asia/Shanghai"), default)
        if zone == say("that of this machine"):
            break
        arguments.timezone = zone if is_zone(zone) else ""


def machine_zone() -> str:
    """Return the name of the zone of this machine; empty where it has none but UTC."""
    named = os.environ.get("TZ", "").removeprefix(":")
    link = "" if named else os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    name = named or link
    # UTC is what a machine is set to before anybody says where it stands: its clock counts then.
    if name.rpartition("/")[2] in _NOWHERE or "'" in name:
        return ""
    try:
        parse_settings(f"[memory]\ntimezone = '{name}'")
    except FormatError:  # "CST-8" and the like have no changes of the clock that we know of.
        return ""
    return name


def is_zone(name: str) -> bool:
    """Whether a time zone of that name is known; a slip is answered with the nearest one."""
    try:
        parse_settings(f"[memory]\ntimezone = '{name}'" if "'" not in name else "")
    except FormatError as error:
        show(paint(printable(str(error).partition(": ")[2] or str(error)), "yellow"))
        return False
    return "'" not in name


def ask_after(arguments: Namespace, folder: Path, run: Run) -> None:
    """Offer what is on this machine: hooks with their diff, stores of others, the schedule."""
    memory = ["--memory", str(folder.resolve())]
    for host in find_agents():
        install = ["hook", "install", "--host", host, *memory]
        show()
        if run([*install, "--dry-run"]) == 0 and _agrees(
            say("Install this for {host}?", host=host)
        ):
            arguments.agents.append(host)
    for place in find_stores():
        show()
        if _agrees(say("Import what {place} holds?", place=place)):
            arguments.imports.append(place)
    show()
    arguments.schedule = arguments.schedule or _agrees(
        say("Let the daily and the weekly job run by themselves?")
    )


def carry_out(arguments: Namespace, folder: Path, run: Run) -> int:
    """Do what was answered or given as options; return the code of what failed first."""
    memory = ["--memory", str(folder.resolve())]
    wanted = [
        *(["hook", "install", "--host", host, *memory] for host in arguments.agents),
        *(["import", str(place), *memory] for place in arguments.imports),
        *([["schedule", "--install", *memory]] if arguments.schedule else []),
    ]
    # One that fails keeps none of the others from being done.
    codes = [run(words) for words in wanted]
    return next((code for code in codes if code), 0)


def find_agents() -> Iterator[str]:
    """Yield the agent programs that have a folder on this machine."""
    for host in AGENTS:
        place = place_of(host)
        home = place.parent.parent if host == "copilot" else place.parent
        if home.is_dir():
            yield host


def find_stores() -> Iterator[Path]:
    """Yield places in which other systems keep memories."""
    for pattern in _STORES:
        yield from sorted(place for place in Path.home().glob(pattern) if place.is_dir())


def _ask(question: str, default: str) -> str:
    print(f"{paint(printable(question), 'bold')} [{printable(default)}] ", end="", flush=True)
    line = sys.stdin.readline()
    if not line:  # The terminal was closed.
        raise KeyboardInterrupt
    return line.strip() or default


def _choose(question: str, default: str, choices: Mapping[str, str]) -> str:
    while (said := _ask(question, default).lower()) not in choices:
        show(say("Choose one of {choices}.", choices=", ".join(choices)))
    return choices[said]


def _agrees(question: str) -> bool:
    choices = {**dict.fromkeys(_YES, "y"), **dict.fromkeys(_NO, "n")}
    # What changes other programs is done on a word alone.
    return _choose(question, "n", choices) == "y"
