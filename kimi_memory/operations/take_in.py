"""A memory that a migration brings: a copy is made of it, or it is merged, and then described."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.config import MARKER
from kimi_memory.errors import MovedError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.bundles import import_bundle, unpack_copy
from kimi_memory.operations.copy_state import CopyState, describe_copy
from kimi_memory.operations.new_folders import borrow_folder

# Above any head that we write, and nothing that could fill the memory of a machine.
_LONGEST_LINE = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What the copy is asked once it is there."""

    questions: list[str]
    at: str
    """The moment of the questions."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What a migration came to."""

    merged: bool
    """Whether a copy was there already."""
    state: CopyState


def take_in(
    bundle: Path, folder: Path, opening: Opening, asked: Asked, *, dry_run: bool = False
) -> TakenIn:
    """Make a copy of a memory in a folder, or merge it into the copy that is there.

    Args:
        bundle: holds the memory, or what the copy there lacks of it.
        folder: a new or empty one, or another copy.
        opening: how the copy is opened.
        asked: what the copy is asked then.
        dry_run: make the copy in a temporary folder; merge nothing.

    Raises:
        UsageError: the bundle is damaged, or the folder cannot be used.
        MovedError: the copy there has moved.
        HistoryError: the copy there lacks what the bundle builds on, or is another memory.
    """
    merged = (folder / MARKER).is_file()
    with borrow_folder() if dry_run and not merged else nullcontext(folder.parent) as around:
        place = around / folder.name
        if not merged:
            _check_free(folder)
            unpack_copy(bundle, place, opening)
        with Memory.open(place, opening) as there:
            if there.store.moved:
                raise MovedError(there.store.moved)
            if merged:
                import_bundle(there, bundle, dry_run=dry_run)
            state = describe_copy(there, asked.questions, datetime.fromisoformat(asked.at))
    return TakenIn(merged, state)


def _check_free(folder: Path) -> None:
    """Refuse a folder that holds something else, also where nothing would be written yet."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Name a new folder.")


def write_stream(bundle: Path, asked: Asked, path: Path) -> None:
    """Write a file that `read_stream` reads: a line of JSON, then the bundle."""
    line = {"questions": asked.questions, "at": asked.at}
    with bundle.open("rb") as file, path.open("xb") as out:
        out.write(json.dumps(line).encode() + b"\n")
        shutil.copyfileobj(file, out)


def read_stream(stream: BinaryIO, bundle: Path) -> Asked:
    """Read what `write_stream` wrote: the questions, and the bundle into a new file.

    Raises:
        UsageError: it is something else.
    """
    try:
        line = json.loads(stream.readline(_LONGEST_LINE))
        asked = Asked([str(one) for one in line["questions"]], str(line["at"]))
        datetime.fromisoformat(asked.at)
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError("This is no memory that 'kimi-memory migrate' sent.") from error
    with bundle.open("xb") as file:
        shutil.copyfileobj(stream, file)
    return asked
