"""What known embedding models want before questions and notes, and how much they count.

From the authors' model cards: nomic-ai/nomic-embed-text-v1.5, BAAI/bge-base-en-v1.5,
BAAI/bge-large-zh-v1.5, BAAI/bge-m3 (wants nothing), intfloat/multilingual-e5-large and its
-instruct, Qwen/Qwen3-Embedding-0.6B, google/embeddinggemma-300m,
mixedbread-ai/mxbai-embed-large-v1, Snowflake/snowflake-arctic-embed-m and -l-v2.0.

A small model finds less than words do: with all-MiniLM a vector-first mix loses twenty
points of recall, a small weight gains. So a model counts 1.0 unless it is known to be large.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from kimi_memory.nlp.basic.regex import regex

_PASSAGES = "Represent this sentence for searching relevant passages: "
_PASSAGES_ZH = "为这个句子生成表示以用于检索相关文章："
_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"


@dataclass(frozen=True, slots=True)
class Manner:
    """How one model is to be spoken to."""

    query: str = ""
    """Stands before a question."""
    note: str = ""
    """Stands before a note."""
    weight: float = 1.0
    """How much its lane counts against that of a small model."""

    @property
    def mark(self) -> str:
        """Short hash of the prefixes, so that an index tells whether they changed; often empty."""
        if not self.query and not self.note:
            return ""
        told = f"{self.query}\0{self.note}".encode()
        return f"#{hashlib.sha256(told).hexdigest()[:6]}"


_KNOWN = tuple(
    (regex(pattern), manner)
    for pattern, manner in (
        (r"nomic-embed", Manner("search_query: ", "search_document: ", 1.5)),
        (r"bge-m3", Manner(weight=2.0)),
        (r"bge-large.{0,40}zh", Manner(_PASSAGES_ZH, weight=1.5)),
        (r"bge-.{0,40}zh", Manner(_PASSAGES_ZH)),
        (r"bge-large", Manner(_PASSAGES, weight=1.5)),
        (r"bge-(?:small|base)", Manner(_PASSAGES)),
        (r"e5-.{0,40}instruct", Manner(f"Instruct: {_SEARCH}\nQuery: ", weight=2.0)),
        (r"\be5-large|-e5-large", Manner("query: ", "passage: ", 1.5)),
        (r"\be5-(?:small|base)|-e5-(?:small|base)", Manner("query: ", "passage: ")),
        (r"qwen3-embedding", Manner(f"Instruct: {_SEARCH}\nQuery:", weight=2.0)),
        (r"embedding-?gemma", Manner("task: search result | query: ", "title: none | text: ", 1.5)),
        (r"mxbai-embed-large", Manner(_PASSAGES, weight=1.5)),
        (r"snowflake-arctic-embed2|snowflake-arctic-embed-.*v2", Manner("query: ", weight=1.5)),
        (r"snowflake-arctic-embed", Manner(_PASSAGES)),
        (r"text-embedding-3-large|gemini-embedding", Manner(weight=2.0)),
        (r"text-embedding", Manner(weight=1.5)),
    )
)


def manner_of(model: str) -> Manner:
    """Return how a model is to be spoken to; without prefixes when it is not known."""
    name = model.lower().replace("_", "-")
    return next((manner for pattern, manner in _KNOWN if pattern.search(name)), Manner())


def chosen(
    model: str, query: str | None = None, note: str | None = None, weight: float | None = None
) -> Manner:
    """Return the manner of a model with what a person set instead."""
    manner = manner_of(model)
    return replace(
        manner,
        query=manner.query if query is None else query,
        note=manner.note if note is None else note,
        weight=manner.weight if weight is None else weight,
    )
