"""Places of merged files: who keeps a path that two of them want."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kimi_memory.merge.files import beside
from kimi_memory.merge.kinds import mark_of


class Wanted(NamedTuple):
    """A file of the result and where it would lie."""

    path: str
    content: bytes
    id: str = ""
    """Of the note in it; empty for other files."""


def place_files(wanted: Iterable[Wanted]) -> dict[str, bytes]:
    """Return each file under a path of its own.

    Of two notes the smaller id keeps the path, and notes keep it before other files.
    """
    files: dict[str, bytes] = {}
    for one in sorted(set(wanted), key=lambda one: (not one.id, one.id, one.path, one.content)):
        path = one.path
        if files.get(path, one.content) != one.content:
            path = beside(path, mark_of(one.id.encode() or one.content))
        files[path] = one.content
    return files
