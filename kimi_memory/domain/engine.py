"""What an index engine must offer, so that another one can serve the same memory.

Engines know units by key: a whole number the caller gives once and never again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

Purpose = Literal["note", "query", "similarity"]


class Embedding(NamedTuple):
    """Vectors of some texts and the model that made them."""

    model: str
    """Name and version; an index made with another model is not used."""
    vectors: Sequence[Sequence[float]]
    """One row a text, all of the same length, unit norm."""
    weight: float = 1.0
    """How much the lane of this model counts against that of a small one."""


# Numbers and not ids: engines differ in what ids they take, and a whole number is the least of
# them.
class KeywordIndex(Protocol):
    """Postings on disk: which unit holds which word how often."""

    @property
    def name(self) -> str:
        """Engine, version and format; an index of another name is not used."""

    def keys(self) -> Ints:
        """Return the key of each row; -1 where the unit was removed."""

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the rows that hold `word`, ascending, and how often each does.

        Rows of removed units may be among them.
        """

    def words(self, begin: str = "") -> Iterator[str]:
        """Yield the words that begin so, ascending.

        Words that only removed units held may be among them.
        """

    def write(self, add: Iterable[tuple[int, Sequence[str]]], remove: Iterable[int]) -> None:
        """Remove units by key, then add units as (key, words)."""

    def close(self) -> None:
        """Release files; the index is not used afterwards."""


class VectorIndex(Protocol):
    """Vectors on disk, searched by cosine."""

    @property
    def name(self) -> str:
        """Engine, version and format; an index of another name is not used."""

    def search(
        self, vector: Sequence[float], limit: int, among: Ints | None = None
    ) -> list[tuple[int, float]]:
        """Return up to `limit` (key, cosine) pairs, nearest first, of the keys `among` if given."""

    def write(self, add: Iterable[tuple[int, Sequence[float]]], remove: Iterable[int]) -> None:
        """Remove vectors by key, add others; nobody else writes into the folder."""

    def close(self) -> None:
        """Save what was written and release files."""
