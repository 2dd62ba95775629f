"""Plain methods to set recall against: word overlap, naive BM25, SQLite FTS5."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

Find = Callable[[str, int], list[int]]
"""Returns the places of the best texts for a question, best first, at most so many."""

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
K1, B = 1.5, 0.75


def words(text: str) -> list[str]:
    """Return lower-case words and single hanzi, without stop words or stems."""
    return _WORD.findall(text.lower())


def grep(texts: Sequence[str]) -> Find:
    """Rank texts by how many words of the question they hold."""
    held = [frozenset(words(text)) for text in texts]

    def find(question: str, limit: int) -> list[int]:
        sought = set(words(question))
        return _best({at: len(sought & found) for at, found in enumerate(held)}, limit)

    return find


def bm25(texts: Sequence[str]) -> Find:
    """Rank texts by BM25 with its usual constants."""
    counts = [Counter(words(text)) for text in texts]
    lengths = [sum(found.values()) for found in counts]
    mean = (sum(lengths) / len(texts) if texts else 0.0) or 1.0
    holders: dict[str, list[int]] = {}
    for at, found in enumerate(counts):
        for word in found:
            holders.setdefault(word, []).append(at)

    def find(question: str, limit: int) -> list[int]:
        scores: dict[int, float] = {}
        for word in dict.fromkeys(words(question)):
            rows = holders.get(word, [])
            idf = math.log(1 + (len(texts) - len(rows) + 0.5) / (len(rows) + 0.5))
            for at in rows:
                often = counts[at][word]
                norm = often + K1 * (1 - B + B * lengths[at] / mean)
                scores[at] = scores.get(at, 0.0) + idf * often * (K1 + 1) / norm
        return _best(scores, limit)

    return find


def fts5(texts: Sequence[str]) -> Find:
    """Rank texts as SQLite does, any word of the question being enough."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE texts USING fts5(body)")
    base.executemany("INSERT INTO texts(rowid, body) VALUES (?, ?)", enumerate(texts))

    def find(question: str, limit: int) -> list[int]:
        sought = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(question)))
        if not sought:
            return []
        select = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"
        return [row for (row,) in base.execute(select, (sought, limit))]

    return find


ARMS: Mapping[str, Callable[[Sequence[str]], Find]] = {
    "word overlap": grep,
    "naive BM25": bm25,
    "SQLite FTS5": fts5,
}


def _best(scores: Mapping[int, float], limit: int) -> list[int]:
    found = [at for at, score in scores.items() if score > 0]
    return sorted(found, key=lambda at: (-scores[at], at))[:limit]
