"""Rows of units as the caller sees them, in memory or on disk."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kimi_memory.domain.search_types import Unit
from kimi_memory.store.files.stat import Stat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kimi_memory.index.columns import Column

    Ints = NDArray[np.int64]


class FileRow(NamedTuple):
    """One file and the rows its units take."""

    path: str
    stat: Stat
    digest: str
    """SHA-256 of the content the rows were read from."""
    first: int
    rows: int
    why: str = ""
    """What is wrong with a file that could not be parsed; it has no rows."""


class Rows(Protocol):
    """A table that can be read, whether it lies in memory or on disk."""

    def __len__(self) -> int: ...

    def column(self, name: str) -> Column:
        """Return a field of all rows."""

    def unit(self, row: int, path: str, text: str) -> Unit:
        """Return a row as a unit."""

    def text(self, row: int) -> str:
        """Return the text of a row."""

    def path(self, file: int) -> str:
        """Return the path of a file by its ordinal."""

    def number(self, path: str) -> int:
        """Return the ordinal of a file by its path, -1 where there is none."""

    def state(self, file: int) -> tuple[int, int, int]:
        """Return size, time and inode a file had when it was read."""

    def counts(self) -> Ints:
        """Return the number of rows of each file, gone ones too."""

    def words(self) -> Ints:
        """Return the number of words of each row."""

    def places(self) -> Ints:
        """Return the key of each row in the engines, ascending."""

    def gone(self, paths: Collection[str]) -> list[int]:
        """Return the ordinals of files that do not count, these paths among them."""
