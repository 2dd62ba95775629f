"""Vector index on usearch: exact up to 30,000 vectors, a graph above.

Why it exists: scanning half-precision vectors is exact and takes two milliseconds at
30,000; above, a graph finds the same neighbours in less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_memory import hookimpl
from kimi_memory.errors import ModelError

if TYPE_CHECKING:
    from kimi_memory.model.engine import VectorIndex

NAME = "vectors.usearch"
EXACT = 30_000
"""Up to so many vectors a scan is as fast as the graph, and misses nothing."""
FORMAT = "f16/cos/32"


@hookimpl(trylast=True)
def open_vectors(folder: Path, dimensions: int) -> VectorIndex:
    """Open or make the index in `folder`."""
    return UsearchIndex(folder, dimensions)


class UsearchIndex:
    """Vectors of one folder, held in memory, saved whole."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        from usearch.index import Index

        self._path, self._dimensions = folder / NAME, dimensions
        self._index: Any = Index(
            ndim=dimensions,
            metric="cos",
            dtype="f16",
            connectivity=32,
            expansion_add=128,
            expansion_search=128,
        )
        if self._path.exists():
            self._index.load(str(self._path))

    @property
    def name(self) -> str:
        """Engine, version and format."""
        import usearch

        return f"usearch {usearch.__version__} {FORMAT} {self._dimensions}"

    def search(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` (key, cosine) pairs, nearest first, ties by key."""
        size = len(self._index)
        if not size:
            return []
        found = self._index.search(self._rows([vector])[0], min(limit, size), exact=size <= EXACT)
        pairs = zip(found.keys.tolist(), found.distances.tolist(), strict=True)
        return sorted(
            ((int(key), 1.0 - float(distance)) for key, distance in pairs),
            key=lambda pair: (-pair[1], pair[0]),
        )

    def write(self, add: Iterable[tuple[int, Sequence[float]]], remove: Iterable[int]) -> None:
        """Remove vectors by key, add others, then save.

        Raises:
            ModelError: a vector has another length, or a number in it is not finite.
        """
        import numpy as np

        pairs = list(add)
        rows = self._rows([vector for _, vector in pairs])
        for key in remove:
            self._index.remove(key)
        if pairs:
            self._index.add(np.asarray([key for key, _ in pairs], dtype=np.uint64), rows)
        # In place, as usearch does it: nobody reads a generation that is being made.
        self._index.save(str(self._path))

    def close(self) -> None:
        """Release the memory; the index is not used afterwards."""
        self._index.reset()

    def _rows(self, vectors: Sequence[Sequence[float]]) -> Any:
        import numpy as np

        try:
            rows = np.asarray(vectors, dtype=np.float32).reshape(-1, self._dimensions)
        except ValueError:
            rows = np.empty((0, self._dimensions), dtype=np.float32)
        if len(rows) != len(vectors) or not np.isfinite(rows).all():
            # usearch answers such a query with arbitrary neighbours.
            raise ModelError(
                f"A vector is not {self._dimensions} finite numbers. "
                "Check the embedding model, then run 'kimi-memory index --full'."
            )
        return rows
