"""The view's cache of postings stays within its bound."""

from __future__ import annotations

import numpy as np

from kimi_memory.index.searcher import Cache


def test_the_least_recently_used_word_leaves_the_cache() -> None:
    asked: list[str] = []

    def read(word: str) -> tuple[np.ndarray, np.ndarray]:
        asked.append(word)
        return np.arange(10), np.ones(10)

    cache = Cache(read, limit=2 * (160 + 200))
    for word in ("a", "b", "a", "c", "a", "b"):
        assert len(cache(word)[0]) == 10
    assert asked == ["a", "b", "c", "b"]
