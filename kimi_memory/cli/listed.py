"""Names that people type: numbers of the last list in this terminal, ids, keys, project and key."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kimi_memory.agent_hooks.user_files import drop, put
from kimi_memory.api.memory import Memory
from kimi_memory.errors import DiskError, NotFoundError, UsageError
from kimi_memory.operations.find_note import find_note

NOTE_HELP = "a note: its id, a key, project/key, or its number in the last list"
_NUMBER = re.compile(r"#?([1-9]\d{0,3})")
_DAY_SECONDS = 86_400
"""After a day nobody knows any more what stood in a list."""


def keep_list(
    memory: Memory, names: Sequence[str], marks: Sequence[str] = (), following: str = ""
) -> None:
    """Keep what a command lists, so that the next one in this terminal may name it by number.

    Args:
        memory: the memory.
        names: of what is listed.
        marks: a fingerprint of each, where a decision must be about the words that were shown.
        following: where the list goes on, if it does.
    """
    place = _list_path(memory)
    rows = {"names": names, "marks": marks, "following": [following] if following else []}
    kept = {"memory": str(memory.root), **{row: list(held) for row, held in rows.items()}}
    # What cannot be kept is named by its id, as before.
    with suppress(DiskError, OSError):
        if not place.exists():
            _drop_old_lists(place.parent)
        put(place, json.dumps(kept))


def find_listed(memory: Memory, what: str) -> str:
    """Return what a number of the last list stands for; what is no number, as it is.

    Raises:
        UsageError: it is written as a number of a list (``#3``), and the list has none such.
    """
    number = _NUMBER.fullmatch(what)
    if number is None:
        return what
    names = _read_list(memory, "names")
    if int(number[1]) <= len(names):
        return names[int(number[1]) - 1]
    if what.startswith("#"):
        had = f"had {len(names)} lines" if names else "is not there"
        why = f"the last list in this terminal {had}"
        raise UsageError(f"{what}: {why}. List it anew, or name an id.")
    return what


def find_following(memory: Memory) -> str:
    """Return where the last list in this terminal goes on.

    Raises:
        UsageError: it is at its end, or there is none.
    """
    found = _read_list(memory, "following")
    if not found:
        raise UsageError("The last list in this terminal is at its end. List anew.")
    return found[0]


def mark_of(memory: Memory, name: str) -> str:
    """Return the fingerprint of what the last list showed under an id or the start of one."""
    shown = zip(_read_list(memory, "names"), _read_list(memory, "marks"), strict=False)
    return next((mark for listed, mark in shown if listed.startswith(name)), "")


def find_named(memory: Memory, what: str) -> str:
    """Return the id of the note that a number, an id, a key, or ``project/key`` names.

    Raises:
        NotFoundError: there is none.
        AmbiguousIdError: it fits several.
    """
    return find_note(memory, find_listed(memory, what))


def find_in_history(memory: Memory, what: str) -> str:
    """Return the id that a number or ``project/key`` stands for; other names as they are.

    The history knows keys by itself, also those that no note has any more.
    """
    named = find_listed(memory, what)
    if "/" in named and not memory.store.exists(named):
        # A path of then may look like project and key.
        with suppress(NotFoundError):
            return find_note(memory, named)
    return named


def _list_path(memory: Memory) -> Path:
    # The processes of one terminal share its session; where there are none, the shell above us.
    terminal = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    return memory.home.state / "lists" / f"{terminal}.json"


def _read_list(memory: Memory, row: str) -> list[str]:
    place = _list_path(memory)
    # A list is a help at typing: a broken one is like none.
    with suppress(OSError, ValueError, KeyError, TypeError):
        if time.time() - place.stat().st_mtime < _DAY_SECONDS:
            kept = json.loads(place.read_text(encoding="utf-8"))
            # Another memory has other notes under the same numbers.
            if kept["memory"] == str(memory.root):
                return [str(name) for name in kept[row]]
    return []


def _drop_old_lists(folder: Path) -> None:
    for path in folder.glob("*.json") if folder.is_dir() else ():
        if time.time() - path.stat().st_mtime > _DAY_SECONDS:
            drop(path)
