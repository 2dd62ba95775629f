"""Vector search against faiss: ``python -m benchmarks.speed --vectors 100000``.

The vectors are seeded and clustered, as embeddings of notes are; neighbours are those
of an exact scan in full precision.
"""

from __future__ import annotations

import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_memory import hookimpl
from kimi_memory.domain.engine import Embedding

if TYPE_CHECKING:
    from kimi_memory import Memory

DIMENSIONS = 384
CLUSTERS = 1000
QUERIES = 300
ROUNDS = 3
"""So often each side takes its turn."""
LIMIT = 10


class Given:
    """Embeds at no cost: the vector of a text is drawn by its hash."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._known: dict[str, list[float]] = {}

    def vector(self, text: str) -> list[float]:
        """Return the vector of a text, made once."""
        found = self._known.get(text)
        if found is None:
            import numpy as np

            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            drawn = np.random.default_rng(seed).standard_normal(self._dimensions)
            found = self._known[text] = (drawn / np.linalg.norm(drawn)).tolist()
        return found

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: str) -> Embedding | None:
        """Answer for notes and questions."""
        if purpose == "query":
            return Embedding("given", [self.vector(text) for text in texts])
        return Embedding("given", [_drawn(text, self._dimensions) for text in texts])

    @contextmanager
    def plugged(self, memory: Memory) -> Iterator[Memory]:
        """Yield the memory, embedding with these vectors."""
        memory.host.register(self, "given")
        yield memory


def _drawn(text: str, dimensions: int) -> Any:
    import numpy as np

    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return drawn / np.linalg.norm(drawn)


def clustered(count: int, dimensions: int) -> tuple[Any, Any]:
    """Return unit vectors around common middles, and questions near some of them."""
    import numpy as np

    chance = np.random.default_rng(17)
    middles = chance.standard_normal((CLUSTERS, dimensions)).astype(np.float32)
    near = chance.integers(0, CLUSTERS, count)
    rows = middles[near] + chance.standard_normal((count, dimensions)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    noise = chance.standard_normal((QUERIES, dimensions)).astype(np.float32)
    asked = rows[chance.integers(0, count, QUERIES)] + 0.5 * noise / np.sqrt(dimensions)
    return rows, asked / np.linalg.norm(asked, axis=1, keepdims=True)


def _timed(ask: Callable[[Any], Sequence[int]], asked: Any) -> tuple[list[set[int]], float]:
    found, times = [], []
    for vector in asked:
        began = time.process_time()
        keys = ask(vector)
        times.append(time.process_time() - began)
        found.append({int(key) for key in keys})
    return found, statistics.median(times) * 1000


def _in_turns(
    asked: Any, *sides: Callable[[Any], Sequence[int]]
) -> list[tuple[list[set[int]], float]]:
    """Return what each side finds and its median, taken one after the other and again."""
    told = [[_timed(side, asked) for side in sides] for _ in range(ROUNDS)]
    return [
        (rounds[0][0], statistics.median(ms for _, ms in rounds))
        for rounds in zip(*told, strict=True)
    ]


def _recall(found: Sequence[set[int]], right: Sequence[set[int]]) -> float:
    return statistics.fmean(len(a & b) / LIMIT for a, b in zip(found, right, strict=True))


def measure(count: int) -> dict[str, float]:
    """Return recall and time of ours and of faiss' graph of the same shape."""
    import faiss
    import numpy as np
    from kimi_memory.plugins.usearch_index import WIDTH, UsearchIndex

    faiss.omp_set_num_threads(1)
    rows, asked = clustered(count, DIMENSIONS)
    right = [set(np.argsort(-(rows @ vector))[:LIMIT].tolist()) for vector in asked]
    peer = faiss.IndexHNSWFlat(DIMENSIONS, 32, faiss.METRIC_INNER_PRODUCT)
    peer.hnsw.efConstruction, peer.hnsw.efSearch = 128, WIDTH
    began = time.process_time()
    peer.add(rows)
    peer_build = time.process_time() - began
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        index = UsearchIndex(Path(folder), DIMENSIONS)
        began = time.process_time()
        index.write(((key, row) for key, row in enumerate(rows)), ())
        build = time.process_time() - began
        index.close()
        index = UsearchIndex(Path(folder), DIMENSIONS)
        (ours, ours_ms), (theirs, theirs_ms) = _in_turns(
            asked,
            lambda v: [key for key, _ in index.search(v, LIMIT)],
            lambda v: peer.search(v[None], LIMIT)[1][0],
        )
        index.close()
    return {
        "vectors": count,
        "recall": _recall(ours, right),
        "ms": ours_ms,
        "build_s": build,
        "faiss_recall": _recall(theirs, right),
        "faiss_ms": theirs_ms,
        "faiss_build_s": peer_build,
        "vs_faiss": ours_ms / theirs_ms,
    }
