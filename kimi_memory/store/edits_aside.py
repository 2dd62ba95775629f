"""Edits that what others wrote took the place of, in a folder that follows.

The content lies in lost+found, as everything does that has no place; beside it stands which file
it was, and what was edited, so that it can be proposed to the node that leads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kimi_memory.store.files.disk import put
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.wal.records import LOST, Entry

FOLDER = f"{PRIVATE}/edits"


class Aside(NamedTuple):
    """One edit that was put aside."""

    edit: Entry
    content: bytes
    note: Path
    """The file that says so."""
    lost: Path
    """The file of its content."""

    def forget(self) -> None:
        """Remove it, as the log has it by now."""
        self.lost.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def note_aside(root: Path, edit: Entry, name: str) -> None:
    """Note which file a content in lost+found was.

    Args:
        root: the memory folder.
        edit: what was done to which file, and what it counts for.
        name: of the content in lost+found.
    """
    body = json.dumps({"edit": edit._asdict(), "name": name}, ensure_ascii=False)
    put(root / FOLDER / f"{name[-200:]}.json", body.encode(), sync=True)


def find_aside(root: Path) -> Iterator[Aside]:
    """Yield the edits that were put aside and are there."""
    for note in sorted((root / FOLDER).glob("*.json")):
        # A crash may leave one of the two files, which tells nothing without the other.
        with suppress(ValueError, KeyError, TypeError, FileNotFoundError):
            found = json.loads(note.read_bytes())
            lost = root / LOST / Path(found["name"]).name
            yield Aside(Entry(**found["edit"]), lost.read_bytes(), note, lost)
