"""Keyword engines that ours is set against: tantivy, SQLite FTS5, stock Whoosh.

Each gets the words our own plugins split, as numbers, so that all search the same
tokens: ``w17 w3``. tantivy is also built from raw text, its own tokenizer included.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

Words = Sequence[str]
LIMIT = 10


class Peer(Protocol):
    """An engine that was filled and can be asked."""

    def ask(self, words: Words) -> list[int]:
        """Return the ten best documents that hold any of the words."""


class Tantivy:
    """tantivy, one writing thread, on disk."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("number", stored=True)
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        schema.add_text_field("text", index_option="freq")
        folder.mkdir(parents=True)
        self._tantivy = tantivy
        self._index = tantivy.Index(schema.build(), path=str(folder))

    def fill(self, field: str, documents: Iterable[str]) -> None:
        """Write documents into a field and open what was written."""
        writer = self._index.writer(heap_size=200_000_000, num_threads=1)
        for number, text in enumerate(documents):
            writer.add_document(self._tantivy.Document(**{"number": [number], field: [text]}))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, words: Words) -> list[int]:
        """Return the ten best documents that hold any of the words."""
        query = self._index.parse_query(" ".join(words), ["words"])
        found = self._searcher.search(query, LIMIT, count=False).hits
        return [self._searcher.doc(place)["number"][0] for _, place in found]


class Fts5:
    """SQLite's full-text index, ranked by its bm25()."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._base = sqlite3.connect(folder / "fts5.db")
        self._base.execute("CREATE VIRTUAL TABLE note USING fts5(words)")

    def fill(self, documents: Iterable[str]) -> None:
        """Write documents."""
        with self._base:
            rows = ((number, text) for number, text in enumerate(documents))
            self._base.executemany("INSERT INTO note(rowid, words) VALUES (?, ?)", rows)

    def ask(self, words: Words) -> list[int]:
        """Return the ten best documents that hold any of the words."""
        sql = "SELECT rowid FROM note WHERE note MATCH ? ORDER BY rank LIMIT ?"
        return [row for (row,) in self._base.execute(sql, (" OR ".join(words), LIMIT))]


class Whoosh:
    """Whoosh as it comes: a TEXT field, its own matchers and BM25F."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import whoosh.fields
            import whoosh.index
            import whoosh.query
            from whoosh.analysis import SpaceSeparatedTokenizer
        folder.mkdir(parents=True)
        text = whoosh.fields.TEXT(analyzer=SpaceSeparatedTokenizer())
        schema = whoosh.fields.Schema(number=whoosh.fields.STORED, words=text)
        self._query: Any = whoosh.query
        self._index = whoosh.index.create_in(str(folder), schema)

    def fill(self, documents: Iterable[str]) -> None:
        """Write documents in one commit and open what was written."""
        writer = self._index.writer(limitmb=256)
        for number, text in enumerate(documents):
            writer.add_document(number=number, words=text)
        writer.commit()
        self._searcher = self._index.searcher()

    def ask(self, words: Words) -> list[int]:
        """Return the ten best documents that hold any of the words."""
        query = self._query.Or([self._query.Term("words", word) for word in words])
        return [hit["number"] for hit in self._searcher.search(query, limit=LIMIT)]
