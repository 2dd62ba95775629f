"""What files held when their content had a mark, found in one walk of the history for all."""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.domain.change import digest
from kimi_memory.store.git.history import History

_FEW = 40
"""The versions of so many files are asked for by their paths, and of more by their folders."""
_VERSIONS = 50
"""Of each file so many are looked at, the newest first."""


def find_contents(history: History, marks: Mapping[str, str]) -> dict[str, bytes]:
    """Return what files held when it had their mark; those that never did are left out.

    Args:
        history: of the memory.
        marks: SHA-256 of the bytes of each file, by its path.
    """
    if not marks or not history.ready():
        return {}
    blobs: dict[str, dict[str, None]] = {path: {} for path in marks}
    folders = marks if len(marks) <= _FEW else {path.split("/", 1)[0] for path in marks}
    # A question for each file would walk the history each time: minutes where thousands changed.
    for version in history.versions(*folders):
        if version.path in marks:
            blobs[version.path][version.blob] = None
    waiting = {path: iter(list(found)[:_VERSIONS]) for path, found in blobs.items()}
    found: dict[str, bytes] = {}
    while waiting:
        newest = {path: blob for path, rest in waiting.items() if (blob := next(rest, ""))}
        contents = history.blobs(dict.fromkeys(newest.values()))
        for path, blob in newest.items():
            if digest(contents[blob]) == marks[path]:
                found[path] = contents[blob]
        waiting = {path: waiting[path] for path in newest.keys() - found.keys()}
    return found
