"""Vector index on usearch: exact up to 30,000 vectors, a graph above.

Why it exists: scanning half-precision vectors is exact and takes two milliseconds at
30,000; above, a graph finds the same neighbours in less. Who only searches maps the
file and reads what a query touches.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import usearch
from usearch.index import Index

from kimi_memory import hookimpl
from kimi_memory.errors import ModelError

if TYPE_CHECKING:
    from kimi_memory.domain.engine import Ints, VectorIndex

NAME = "vectors.usearch"
EXACT = 30_000
"""Up to so many vectors a scan is as fast as the graph, and misses nothing."""
FORMAT = "f16/cos/32"
FEW = 1000
"""Up to so many vectors that count are compared one by one."""
BATCH = 4096
"""Vectors that are held in single precision at once on their way in."""
WIDTH = 96
"""Nodes of the graph that a search keeps in view; as many as are asked for, if those are more."""
CHURN = 2
"""When half as many vectors were removed as there are, the graph is made anew."""
WIDER = 4
"""A filtered search that found too little is tried again with so many times more."""


@hookimpl(trylast=True)
def open_vectors(folder: Path, dimensions: int) -> VectorIndex:
    """Open or make the index in `folder`."""
    return UsearchIndex(folder, dimensions)


class UsearchIndex:
    """Vectors of one folder: mapped to be searched, in memory to be changed, saved at the end."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._path, self._dimensions = folder / NAME, dimensions
        self._index: Any = self._make_index()
        self._churn = 0
        self._changed = False
        if self._path.exists():
            # Mapped, not read: 7 to 26 ms for 100,000 vectors instead of 100 to 160.
            self._index.view(str(self._path))

    @property
    def name(self) -> str:
        """Engine, version and format."""
        return f"usearch {usearch.__version__} {FORMAT} {self._dimensions}"

    def search(
        self, vector: Sequence[float], limit: int, among: Ints | None = None
    ) -> list[tuple[int, float]]:
        """Return up to `limit` (key, cosine) pairs, nearest first, ties by key."""
        size, row = len(self._index), self._vector_rows([vector])[0]
        if not size or (among is not None and not len(among)):
            return []
        if among is not None and len(among) <= FEW:
            return _sort_nearest(*self._scan_keys(row, among), limit)
        # So many that a few which do not count cost no second search.
        room = min(size, limit if among is None else limit + min(limit, max(0, size - len(among))))
        while True:
            found = self._index.search(row, room, exact=size <= EXACT)
            keys, near = found.keys.astype(np.int64), 1.0 - found.distances.astype(np.float64)
            if among is not None:
                kept = np.isin(keys, among)
                keys, near = keys[kept], near[kept]
            if len(keys) >= limit or room >= size:
                return _sort_nearest(keys, near, limit)
            room = min(size, room * WIDER)

    def write(self, add: Iterable[tuple[int, Sequence[float]]], remove: Iterable[int]) -> None:
        """Remove vectors by key, add others; all is saved when the index is closed.

        Raises:
            ModelError: a vector has another length, or a number in it is not finite.
        """
        gone, rest = list(remove), iter(add)
        first = self._next_batch(rest)
        if not self._changed:
            self._load_index()
        for key in gone:
            self._churn += int(self._index.remove(key))
        while first is not None:
            self._index.add(*first)
            first = self._next_batch(rest)
        # Removed vectors keep their places; after 50 % churn the graph was measured to find fewer.
        if self._churn * CHURN > len(self._index):
            self._rebuild_graph()

    def _next_batch(self, pairs: Iterator[tuple[int, Sequence[float]]]) -> tuple[Any, Any] | None:
        """Return the next few keys and vectors as arrays; None when there are no more."""
        taken = list(islice(pairs, BATCH))
        keys = np.asarray([key for key, _ in taken], dtype=np.uint64)
        return (keys, self._vector_rows([vector for _, vector in taken])) if taken else None

    def close(self) -> None:
        """Save what changed and release the memory; the index is not used afterwards."""
        if self._changed:
            self._save_index()
        self._index.reset()

    def _make_index(self) -> Any:
        return Index(
            ndim=self._dimensions,
            metric="cos",
            dtype="f16",
            # With 32 links a node the graph finds 96 of 100 neighbours; with the default 16 it
            # misses more as it grows.
            connectivity=32,
            expansion_add=128,
            expansion_search=WIDTH,
        )

    def _load_index(self) -> None:
        """Read the mapped file into memory, where it can be changed."""
        self._changed, self._index = True, self._make_index()
        if self._path.exists():
            self._index.load(str(self._path))
            # A file keeps the places of removed vectors.
            self._churn = self._index.capacity - len(self._index)

    def _rebuild_graph(self) -> None:
        """Make the graph anew from the vectors that are left."""
        keys = [int(key) for key in self._index.keys]
        old, self._index, self._churn = self._index, self._make_index(), 0
        if keys:
            array = np.asarray(keys, dtype=np.uint64)
            self._index.add(array, np.asarray(old.get(array, np.float32)))

    def _save_index(self) -> None:
        """Write the file beside the old one: who has that mapped would crash if it changed."""
        written = self._path.with_name(f"{NAME}.{secrets.token_hex(4)}")
        self._index.save(str(written))
        written.replace(self._path)
        self._changed = False

    def _scan_keys(self, row: Any, among: Ints) -> tuple[Any, Any]:
        """Return the keys that have a vector, and the cosine of each."""
        keys = among[self._index.contains(among.astype(np.uint64))]
        if not len(keys):
            return keys, np.empty(0)
        held = np.asarray(self._index.get(keys.astype(np.uint64), np.float32))
        norms = np.linalg.norm(held, axis=1) * (float(np.linalg.norm(row)) or 1.0)
        near = np.divide(held @ row, norms, out=np.zeros(len(keys), np.float32), where=norms > 0)
        return keys, near.astype(np.float64)

    def _vector_rows(self, vectors: Sequence[Sequence[float]]) -> Any:
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


def _sort_nearest(keys: Any, near: Any, limit: int) -> list[tuple[int, float]]:
    """Return the nearest pairs, ties by key."""
    pairs = zip(keys.tolist(), near.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]
