"""A folder in main memory, and what a test tells of its cases."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Told = Callable[[int, int], None]
"""Notes how many cases were tried and how many of them held."""


@pytest.fixture
def swift(tmp_path: Path) -> Iterator[Path]:
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kimi-", dir=shared if shared.is_dir() else tmp_path))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Told:
    def note(tried: int, held: int) -> None:
        record_property("tried", tried)
        record_property("held", held)

    return note
