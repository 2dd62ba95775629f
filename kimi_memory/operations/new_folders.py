"""Folders of new copies: filled under another name, with what waits for a word waiting there."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.job import digest
from kimi_memory.domain.note import Origin
from kimi_memory.errors import UsageError
from kimi_memory.jobs.merging import list_changes
from kimi_memory.store.files.outside import check_outside
from kimi_memory.store.git.history import History
from kimi_memory.store.trust.vetting import MERGED
from kimi_memory.store.wal.records import EXTERNAL, Provenance


class File(NamedTuple):
    """A file of the new folder."""

    content: bytes
    counts: bytes | None
    """The version that counts; None where there is none."""


def beside(memory: Memory) -> Opening:
    """Return how another copy is opened by the one who has this one open."""
    return Opening(
        home=memory.home, clock=memory.clock, actor=memory.actor, host=memory.host, background=False
    )


def begin_copy(folder: Path, opening: Opening, files: Mapping[str, File], subject: str) -> None:
    """Have what nobody confirmed where a copy comes from wait in the new one as well.

    Args:
        folder: of the new copy; the versions that count lie there.
        opening: how it is opened.
        files: all of its files.
        subject: of the commit; empty for a folder that has no history.
    """
    with Memory.open(folder, opening) as copy:
        waiting = {path: one for path, one in files.items() if one.content != one.counts}
        here = {path: one.counts for path, one in waiting.items() if one.counts is not None}
        wanted = {path: one.content for path, one in waiting.items()}
        origin = f"{EXTERNAL}:{Origin.REMOTE}"
        sources = {
            path: Provenance(origin, MERGED, digest(here[path]) if path in here else "none")
            for path in wanted
        }
        copy.store.apply(list_changes(here, wanted), copy.actor, waiting=sources)
        if subject:
            copy.batch.note()
            copy.batch.flush(subject)


def list_copy(folder: Path, opening: Opening) -> None:
    """Have a new copy stand among the copies on this machine, under its name."""
    with Memory.open(folder, opening) as copy:
        _ = copy.copy_id  # to ask for it notes the folder


@contextmanager
def borrow_folder() -> Iterator[Path]:
    """Give a folder that is removed again."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-") as name:
        yield Path(name)


def check_new(folder: Path, memory: Path | None = None) -> None:
    """Refuse a folder that cannot be filled.

    Raises:
        UsageError: it is not empty, no folder, or in the one of the memory.
    """
    if memory is not None:
        check_outside(memory, folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is no folder. Name a new one.")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Name a new folder.")


@contextmanager
def lay_folder(folder: Path, memory: Path | None = None, *, keep: bool = True) -> Iterator[Path]:
    """Give a folder to fill; it gets its name once it is whole.

    Args:
        folder: a new or empty one.
        memory: the folder of the memory that is copied; it may not lie in there.
        keep: whether it gets its name; else all of it is removed again.

    Raises:
        UsageError: it cannot be used.
    """
    check_new(folder, memory)
    # Git is started in the folder: a relative name would mean another one there.
    place = folder.absolute()
    part = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        part.mkdir(parents=True)
        yield part
        if keep:
            os.sync()  # Once, and not for each of ten thousand files.
            part.replace(place)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def make_history(part: Path, opening: Opening) -> History:
    """Return the history of a folder that nobody else uses yet."""
    history = History(part, lock=nullcontext, clock=opening.clock)
    history.init()
    return history


def write_files(part: Path, files: Mapping[str, File]) -> None:
    """Write the versions that count: what lies there when the journal is begun counts."""
    for path, file in files.items():
        if file.counts is not None:
            place = part / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.startswith("."):  # a new history begins with some of them
                place.unlink(missing_ok=True)
            with place.open("xb") as opened:
                opened.write(file.counts)
