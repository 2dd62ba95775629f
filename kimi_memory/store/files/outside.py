"""Files that a person asks for outside of the memory: where they may lie, and how they appear."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kimi_memory.errors import UsageError


def check_outside(root: Path, path: Path) -> None:
    """Raise UsageError where a path lies in the memory itself."""
    if path.resolve().is_relative_to(root):
        raise UsageError(f"{path} lies in the memory itself. Name a place outside of it.")


def check_new_file(root: Path, path: Path) -> None:
    """Raise UsageError where a path lies in the memory itself, or there is a file already."""
    check_outside(root, path)
    if path.exists():
        raise UsageError(f"{path} is there already. Name another file.")


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Give the path of a new file to write; it gets its name once it is whole and on disk.

    Raises:
        UsageError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        # It has its final name by now, or the error above is the one to tell.
        with suppress(OSError):
            part.unlink(missing_ok=True)
