"""A memory folder for every test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "index"))

from folders import OPENED, Folder, fill


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close the indexes a test opened."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An empty memory folder."""
    return Folder(tmp_path)


@pytest.fixture
def filled(folder: Folder) -> Folder:
    """A small bilingual memory with all kinds of units."""
    fill(folder)
    return folder
